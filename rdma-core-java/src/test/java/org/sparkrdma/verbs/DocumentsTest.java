// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * In the documents, relative links lead to a file and a heading, and scripts, options and classes
 * exist.
 */
@Timeout(60)
class DocumentsTest {
  private static final Path ROOT = BudgetTest.ROOT;
  private static final Pattern SCRIPT = Pattern.compile("(?<![\\w./])\\./([\\w/.-]*\\w)");

  /** The words after a script or the jar, up to a comment, a back-quote or another command. */
  private static final Pattern COMMAND =
      Pattern.compile(
          "(?:(?<![\\w./])\\./(?!mvnw)[\\w/-]+|-jar \\S*spark-rdma-shuffle\\.jar)((?: (?!--? |#)[^` \\n]+)*)");

  private static final Pattern OPTION = Pattern.compile("(?<= )--[a-z][a-z-]*");

  private static final Pattern CLASS =
      Pattern.compile("\\borg\\.sparkrdma\\.[a-z.]+\\.[A-Z][A-Za-z]+");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} (.*)$");
  private static final String CODE_BLOCK = "(?ms)^```.*?^```";

  /** Sources of the modules, and what scripts run. */
  private static final String SOURCE =
      "(dev|integration-tests/guest|.*/src/main/java|.*/sparkrdma/examples)/.*(?<![.]md)";

  private static final Pattern SHORT_NAME =
      Pattern.compile("`([A-Z][a-z]+(?:[A-Z][a-z0-9]*)+)[`.]");

  /** Classes of Spark, of the JDK and words of the network. */
  private static final Set<String> OF_OTHERS =
      Set.of(
          "BlockFetchingListener",
          "BlockStoreClient",
          "FetchFailedException",
          "IndexShuffleBlockResolver",
          "ServiceLoader",
          "ShuffleBlockFetcherIterator",
          "VirtualMachineError");

  private List<String> files;
  private List<Path> documents;

  @BeforeEach
  void listFiles() throws Exception {
    files = BudgetTest.files();
    documents = files.stream().filter(file -> file.endsWith(".md")).map(ROOT::resolve).toList();
    assertThat(documents).hasSizeGreaterThan(10);
  }

  /** What the pattern's group finds in all documents. */
  private Set<String> found(Pattern pattern, int group) throws IOException {
    Set<String> all = new TreeSet<>();
    for (Path document : documents) {
      all.addAll(found(pattern, group, Files.readString(document)));
    }
    return all;
  }

  private static List<String> found(Pattern pattern, int group, String text) {
    return pattern.matcher(text).results().map(match -> match.group(group)).toList();
  }

  private static String withoutCode(Path document) throws IOException {
    return Files.readString(document).replaceAll(CODE_BLOCK, "");
  }

  @Test
  void shouldNameScriptsThatExist() throws IOException {
    assertThat(found(SCRIPT, 1))
        .contains("quickstart", "dev/guest")
        .allMatch(script -> Files.isExecutable(ROOT.resolve(script)));
  }

  @Test
  void shouldNameOptionsThatExist() throws IOException {
    StringBuilder sources = new StringBuilder();
    for (String file : files.stream().filter(file -> file.matches(SOURCE)).toList()) {
      sources.append(Files.readString(ROOT.resolve(file)));
    }
    assertThat(found(OPTION, 0, String.join("\n", found(COMMAND, 1))))
        .contains("--peer", "--cells")
        .allMatch(option -> sources.indexOf(option) >= 0);
  }

  @Test
  void shouldNameClassesThatExist() throws IOException {
    assertThat(found(CLASS, 0))
        .contains("org.sparkrdma.shuffle.RdmaShuffleManager")
        .allMatch(
            name ->
                files.stream()
                    .anyMatch(
                        file ->
                            file.matches(SOURCE)
                                && file.endsWith(name.replace('.', '/') + ".java")));
  }

  /** In documents for contributors. */
  @Test
  void shouldNameClassesInBackQuotesThatExist() throws IOException {
    Set<String> known =
        files.stream()
            .filter(file -> file.matches(".*/src/.*[.](java|scala)"))
            .map(file -> file.replaceFirst(".*/(.*)[.].*", "$1"))
            .collect(Collectors.toSet());
    known.addAll(OF_OTHERS);
    for (String page : List.of("ARCHITECTURE.md", "CONTRIBUTING.md", "docs/dev/testing.md")) {
      assertThat(known)
          .as(page)
          .containsAll(found(SHORT_NAME, 1, Files.readString(ROOT.resolve(page))));
    }
  }

  /** The index in docs has each page, and each page leads back to it. */
  @Test
  void shouldHaveEachPageInTheIndex() throws IOException {
    Path index = ROOT.resolve("docs/README.md");
    for (Path page : documents) {
      if (page.startsWith(index.getParent()) && !page.equals(index)) {
        String back = "[All pages](" + page.getParent().relativize(index) + ")";
        assertThat(page).content().contains(back);
        assertThat(index).content().contains("](" + index.getParent().relativize(page) + ")");
      }
    }
  }

  @Test
  void shouldLeadToAFileAndAHeading() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Path document : documents) {
      for (String link : found(LINK, 1, withoutCode(document))) {
        if (!link.contains("://") && !leadsSomewhere(document, link)) {
          wrong.add(document.getFileName() + ": " + link);
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static boolean leadsSomewhere(Path document, String link) throws IOException {
    String[] parts = link.split("#", 2);
    Path target = parts[0].isEmpty() ? document : document.resolveSibling(parts[0]);
    return Files.exists(target)
        && (parts.length == 1
            || found(HEADING, 1, withoutCode(target)).stream()
                .map(DocumentsTest::anchor)
                .anyMatch(parts[1]::equals));
  }

  /** Anchor that GitHub makes of a heading. */
  private static String anchor(String heading) {
    return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
  }
}
