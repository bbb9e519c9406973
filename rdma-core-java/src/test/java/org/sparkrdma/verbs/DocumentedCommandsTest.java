// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Scripts, options of the project's commands, and classes that documents name exist. */
@Timeout(60)
class DocumentedCommandsTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern SCRIPT = Pattern.compile("(?<![\\w./])\\./([\\w/.-]*\\w)");

  /** The words after a script or the jar, up to a comment, a back-quote or another command. */
  private static final Pattern COMMAND =
      Pattern.compile(
          "(?:(?<![\\w./])\\./(?!mvnw)[\\w/-]+|-jar \\S*spark-rdma-shuffle\\.jar)((?: (?!--? |#)[^` \\n]+)*)");

  private static final Pattern OPTION = Pattern.compile("(?<= )--[a-z][a-z-]*");
  private static final Pattern DEPENDENCY =
      Pattern.compile("(?s)<dependency>.*?<artifactId>(.*?)<.*?</dependency>");

  private static final Pattern NEEDED = Pattern.compile("It needs [^.]*\\.");
  private static final Pattern SLF4J = Pattern.compile("slf4j-api/([0-9.]+)/");
  private static final Pattern CLASS =
      Pattern.compile("\\borg\\.sparkrdma\\.[a-z.]+\\.[A-Z][A-Za-z]+");

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

  /** The sentence of docs/verbs.md about libraries has all of them, in the version of the build. */
  @Test
  void shouldNameEachLibraryThatTheVerbsNeed() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/verbs.md"));
    String needed = NEEDED.matcher(page).results().map(MatchResult::group).findFirst().orElse("");
    DEPENDENCY
        .matcher(Files.readString(ROOT.resolve("rdma-core-java/pom.xml")))
        .results()
        .filter(one -> !one.group().matches("(?s).*<(scope>test|optional>true)<.*"))
        .forEach(one -> assertThat(needed).contains(one.group(1).replace("-api", "")));

    String version = SLF4J.matcher(page).results().map(one -> one.group(1)).findFirst().orElse("");
    assertThat(Files.readString(ROOT.resolve("pom.xml")))
        .contains("<slf4j.version>" + version + "<");
  }

  private static Set<String> found(Pattern pattern, int group) throws IOException {
    Set<String> all = new TreeSet<>();
    for (Path document : DocumentLinksTest.documents()) {
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
}
