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
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * In the documents, relative links lead to a file and a heading, and scripts, options and classes
 * exist.
 */
@Timeout(60)
class DocumentsTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern SCRIPT = Pattern.compile("(?<![\\w./])\\./([\\w/.-]*\\w)");

  /** The words after a script or the jar, up to a comment, a back-quote or another command. */
  private static final Pattern COMMAND =
      Pattern.compile(
          "(?:(?<![\\w./])\\./(?!mvnw)[\\w/-]+|-jar \\S*spark-rdma-shuffle\\.jar)((?: (?!--? |#)[^` \\n]+)*)");

  private static final Pattern OPTION = Pattern.compile("(?<= )--[a-z][a-z-]*");

  private static final Pattern CLASS =
      Pattern.compile("\\borg\\.sparkrdma\\.[a-z.]+\\.[A-Z][A-Za-z]+");
  private static final Set<String> SKIPPED_FOLDERS = Set.of("target", ".git", "src");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("^#{1,6} (.*)$");
  private static final String FENCE = "```";

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

  @Test
  void shouldNameScriptsThatExist() throws IOException {
    Set<String> scripts = found(SCRIPT, 1);
    assertThat(scripts).contains("quickstart", "card", "bench", "dev/guest", "mvnw");
    assertThat(scripts).allMatch(script -> Files.isExecutable(ROOT.resolve(script)));
  }

  @Test
  void shouldNameOptionsThatExist() throws IOException {
    Set<String> options = new TreeSet<>();
    for (String words : found(COMMAND, 1)) {
      OPTION.matcher(words).results().map(MatchResult::group).forEach(options::add);
    }
    StringBuilder sources = new StringBuilder();
    for (Path source : sources()) {
      sources.append(Files.readString(source));
    }
    assertThat(options).contains("--peer", "--collect", "--cells");
    assertThat(options).allMatch(option -> sources.indexOf(option) >= 0);
  }

  @Test
  void shouldNameClassesThatExist() throws IOException {
    List<Path> sources = sources();
    Set<String> classes = found(CLASS, 0);
    assertThat(classes).contains("org.sparkrdma.shuffle.RdmaShuffleManager");
    assertThat(classes)
        .allMatch(
            name ->
                sources.stream().anyMatch(one -> one.endsWith(name.replace('.', '/') + ".java")));
  }

  private static Set<String> found(Pattern pattern, int group) throws IOException {
    Set<String> all = new TreeSet<>();
    for (Path document : documents()) {
      pattern
          .matcher(Files.readString(document))
          .results()
          .map(match -> match.group(group))
          .forEach(all::add);
    }
    return all;
  }

  /** Sources of the modules, and what scripts run. */
  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    List<Path> folders =
        new ArrayList<>(
            List.of(
                ROOT.resolve("dev"),
                ROOT.resolve("integration-tests/guest"),
                ROOT.resolve("rdma-core-java/src/test/java/org/sparkrdma/examples")));
    try (Stream<Path> modules = Files.list(ROOT)) {
      modules
          .map(module -> module.resolve("src/main/java"))
          .filter(Files::isDirectory)
          .forEach(folders::add);
    }
    for (Path folder : folders) {
      try (Stream<Path> files = Files.walk(folder)) {
        files
            .filter(file -> Files.isRegularFile(file) && !file.toString().endsWith(".md"))
            .forEach(sources::add);
      }
    }
    return sources;
  }

  /** In documents for contributors. */
  @Test
  void shouldNameClassesInBackQuotesThatExist() throws IOException {
    Set<String> known = namesOfSources();
    for (String page : List.of("ARCHITECTURE.md", "CONTRIBUTING.md", "docs/dev/testing.md")) {
      Set<String> missing = new TreeSet<>();
      SHORT_NAME
          .matcher(Files.readString(ROOT.resolve(page)))
          .results()
          .map(found -> found.group(1))
          .filter(name -> !known.contains(name) && !OF_OTHERS.contains(name))
          .forEach(missing::add);
      assertThat(missing).as(page).isEmpty();
    }
  }

  /** Names of all sources in Java and Scala. */
  private static Set<String> namesOfSources() throws IOException {
    Set<String> names = new HashSet<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path module : modules.filter(path -> Files.isDirectory(path.resolve("src"))).toList()) {
        try (Stream<Path> files = Files.walk(module.resolve("src"))) {
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(".java") || name.endsWith(".scala"))
              .forEach(name -> names.add(name.substring(0, name.lastIndexOf('.'))));
        }
      }
    }
    return names;
  }

  /** The index in docs has each page, and each page leads back to it. */
  @Test
  void shouldHaveEachPageInTheIndex() throws IOException {
    Path docs = ROOT.resolve("docs");
    String index = Files.readString(docs.resolve("README.md"));
    List<Path> pages =
        documents().stream()
            .filter(page -> page.startsWith(docs) && !page.equals(docs.resolve("README.md")))
            .toList();
    assertThat(pages).hasSizeGreaterThan(10);
    for (Path page : pages) {
      String back = page.getParent().relativize(docs.resolve("README.md")).toString();
      assertThat(index).contains("](" + docs.relativize(page) + ")");
      assertThat(Files.readString(page)).contains("[All pages](" + back + ")");
    }
  }

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
  private static List<Path> documents() throws IOException {
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
