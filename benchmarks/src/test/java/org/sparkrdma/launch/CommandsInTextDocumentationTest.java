// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Commands in running text, in back-quotes: whether what they name exists: the script, its options,
 * the command of the jar, profiles, test classes and suites; not whether something runs them.
 */
class CommandsInTextDocumentationTest {
  private static final Path PROJECT = DocumentationFiles.PROJECT;
  private static final Pattern BLOCK = Pattern.compile("(?ms)^ *```.*?^ *```");
  private static final Pattern COMMAND = Pattern.compile("`((?:\\./|java -jar )[^`]+)`");
  private static final Pattern OPTION = Pattern.compile(" (--[a-z-]+)");
  private static final Pattern TEST_CLASS =
      Pattern.compile("-D(?:it\\.)?(?:test|suites)=([\\w,]+)");
  private static final Pattern PROFILES = Pattern.compile(" -P([\\w,]+)");

  /** A command with the page that has it. */
  private record InText(String page, String command) {
    String script() {
      return command.split(" ", 2)[0];
    }

    boolean ofJar() {
      return command.startsWith("java -jar ");
    }
  }

  @Test
  void shouldNameScriptsThatExist() throws IOException {
    List<InText> commands = commands();
    assertThat(commands).isNotEmpty();
    assertThat(commands.stream().filter(one -> !one.ofJar()))
        .allMatch(one -> Files.isExecutable(PROJECT.resolve(one.script())));
  }

  @Test
  void shouldNameOptionsThatExist() throws IOException {
    String plugIn = textOf("shuffle-plugin/src/main/java/org/sparkrdma/shuffle/tools");
    String scripts =
        textOf("benchmarks/src/main/java")
            + textOf("integration-tests/guest")
            + textOf("card-check/src/main/java");
    for (InText one : commands()) {
      Matcher option = OPTION.matcher(one.command());
      while (!one.script().equals("./mvnw") && option.find()) {
        String name = option.group(1);
        assertThat(name.equals("--help") || (one.ofJar() ? plugIn : scripts).contains(name))
            .as("%s of %s", name, one)
            .isTrue();
      }
    }
  }

  @Test
  void shouldNameCommandsOfTheJarThatExist() throws IOException {
    assertThat(commands().stream().filter(InText::ofJar))
        .isNotEmpty()
        .allMatch(one -> one.command().matches("java -jar \\S+ (doctor|devices|perf)( .*)?"));
  }

  @Test
  void shouldNameTestsAndProfilesThatExist() throws IOException {
    String poms = "";
    for (String pom : List.of("", "rdma-core-java/", "shuffle-plugin/", "integration-tests/")) {
      poms += Files.readString(PROJECT.resolve(pom + "pom.xml"));
    }
    List<String> missing = new ArrayList<>();
    for (InText one : commands()) {
      for (String name : values(TEST_CLASS, one)) {
        // In capitals: a placeholder.
        if (!name.equals("CLASS")
            && DocumentationFiles.withName(name + ".java").isEmpty()
            && DocumentationFiles.withName(name + ".scala").isEmpty()
            && !textOf("integration-tests/src/test/java/org/sparkrdma/suites").contains(name)) {
          missing.add(name + " of " + one);
        }
      }
      for (String name : values(PROFILES, one)) {
        if (!poms.contains("<id>" + name + "</id>")) {
          missing.add(name + " of " + one);
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  private static List<String> values(Pattern pattern, InText one) {
    return pattern
        .matcher(one.command())
        .results()
        .flatMap(found -> Stream.of(found.group(1).split(",", -1)))
        .toList();
  }

  private static List<InText> commands() throws IOException {
    List<InText> commands = new ArrayList<>();
    for (Path page : DocumentationFiles.pages()) {
      COMMAND
          .matcher(withoutBlocks(page))
          .results()
          .map(found -> found.group(1).replaceAll("\\s+", " "))
          .forEach(one -> commands.add(new InText(PROJECT.relativize(page).toString(), one)));
    }
    return commands;
  }

  private static String withoutBlocks(Path page) throws IOException {
    return BLOCK.matcher(Files.readString(page)).replaceAll("");
  }

  /** All files below a folder, as one text. */
  private static String textOf(String folder) throws IOException {
    StringBuilder text = new StringBuilder();
    try (Stream<Path> files = Files.walk(PROJECT.resolve(folder))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        text.append(Files.readString(file));
      }
    }
    return text.toString();
  }
}
