// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Checks that every relative link in a Markdown document leads to a file, and to a heading of it.
 */
@Timeout(60)
class DocumentLinksTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Set<String> SKIPPED_FOLDERS = Set.of("target", ".git", "src");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("^#{1,6} (.*)$");
  private static final String FENCE = "```";

  @Test
  void shouldLeadToAFileAndAHeading() throws IOException {
    List<String> wrong = new ArrayList<>();
    List<Path> documents = documents();
    for (Path document : documents) {
      wrong.addAll(wrongLinks(document));
    }
    assertThat(documents).hasSizeGreaterThan(10);
    assertThat(wrong).isEmpty();
  }

  /** All Markdown documents of the repository. */
  static List<Path> documents() throws IOException {
    List<Path> found = new ArrayList<>();
    try (Stream<Path> folders = Files.list(ROOT)) {
      for (Path folder : folders.filter(path -> !isSkipped(path)).toList()) {
        try (Stream<Path> files = Files.walk(folder, 2)) {
          files
              .filter(file -> file.toString().endsWith(".md"))
              .filter(file -> !isSkipped(file.getParent()))
              .forEach(found::add);
        }
      }
    }
    return found;
  }

  private static boolean isSkipped(Path folder) {
    return SKIPPED_FOLDERS.contains(folder.getFileName().toString());
  }

  private static List<String> wrongLinks(Path document) throws IOException {
    List<String> wrong = new ArrayList<>();
    for (String line : textLines(document)) {
      Matcher links = LINK.matcher(line);
      while (links.find()) {
        String link = links.group(1);
        if (!link.contains("://") && !leadsSomewhere(document, link)) {
          wrong.add(document.getFileName() + ": " + link);
        }
      }
    }
    return wrong;
  }

  private static boolean leadsSomewhere(Path document, String link) throws IOException {
    int hash = link.indexOf('#');
    String file = hash < 0 ? link : link.substring(0, hash);
    Path target = file.isEmpty() ? document : document.resolveSibling(file);
    if (!Files.exists(target)) {
      return false;
    }
    return hash < 0 || anchors(target).contains(link.substring(hash + 1));
  }

  private static Set<String> anchors(Path document) throws IOException {
    Set<String> anchors = new HashSet<>();
    for (String line : textLines(document)) {
      Matcher heading = HEADING.matcher(line);
      if (heading.matches()) {
        anchors.add(anchor(heading.group(1)));
      }
    }
    return anchors;
  }

  /** Anchor that GitHub makes of a heading. */
  private static String anchor(String heading) {
    return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
  }

  /** The lines outside of code blocks. */
  private static List<String> textLines(Path document) throws IOException {
    List<String> lines = new ArrayList<>();
    boolean code = false;
    for (String line : Files.readAllLines(document)) {
      if (line.startsWith(FENCE)) {
        code = !code;
      } else if (!code) {
        lines.add(line);
      }
    }
    return lines;
  }
}
