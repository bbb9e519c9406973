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
 * Commands of the system are marked as "not run, needs …" in the same paragraph, item or row, which
 * otherwise names a test that runs them. {@link CommandsDocumentationTest} checks those in blocks.
 */
class CommandsInTextDocumentationTest {
  private static final Path PROJECT = DocumentationFiles.PROJECT;
  private static final Pattern BLOCK = Pattern.compile("(?ms)^ *```.*?^ *```");
  private static final Pattern COMMAND = Pattern.compile("`((?:\\./|java -jar )[^`]+)`");
  private static final Pattern OPTION = Pattern.compile(" (--[a-z-]+)");
  private static final Pattern TEST_CLASS =
      Pattern.compile("-D(?:it\\.)?(?:test|suites)=([\\w,]+)");
  private static final Pattern PROFILES = Pattern.compile(" -P([\\w,]+)");

  /** Between paragraphs, items of lists and rows of tables. */
  private static final Pattern BOUNDARY =
      Pattern.compile("\\n\\s*\\n|\\n(?=\\||\\s*- |\\s*\\d+\\. )");

  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern OF_SYSTEM =
      Pattern.compile(
          "(^|[ (])(sysctl|modprobe|systemd-run|kubectl|docker (build|exec|run)|ip (link|addr)) \\S");
  private static final Pattern NOT_RUN = Pattern.compile("not run\\b.*\\bneeds ");
  private static final Pattern GUEST_TEST = Pattern.compile("`(\\w+IT)`");

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
    assertThat(commands).hasSizeGreaterThan(60);
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

  @Test
  void shouldMarkCommandsOfTheSystemThatNothingRuns() throws IOException {
    List<String> unmarked = new ArrayList<>();
    int found = 0;
    for (Path page : pages()) {
      for (String text : BOUNDARY.split(withoutBlocks(page), -1)) {
        String line = text.replaceAll("\\s+", " ");
        for (String command : systemCommands(line)) {
          found++;
          if (!NOT_RUN.matcher(line).find() && !isRunByTestOf(line, command)) {
            unmarked.add(page.getFileName() + ": " + command);
          }
        }
      }
    }
    assertThat(found).isGreaterThan(3);
    assertThat(unmarked)
        .as("neither marked \"not run, needs …\" nor run by a named test")
        .isEmpty();
  }

  @Test
  void shouldMarkCommandsInCommentsOfTemplates() throws IOException {
    List<String> unmarked = new ArrayList<>();
    try (Stream<Path> templates = Files.list(PROJECT.resolve("conf"))) {
      for (Path template : templates.sorted().toList()) {
        for (String comment : comments(template)) {
          if (OF_SYSTEM.matcher(comment).find() && !NOT_RUN.matcher(comment).find()) {
            unmarked.add(template.getFileName() + ": " + comment);
          }
        }
      }
    }
    assertThat(unmarked).isEmpty();
  }

  private static List<String> systemCommands(String line) {
    return CODE.matcher(line)
        .results()
        .map(code -> code.group(1))
        .filter(code -> OF_SYSTEM.matcher(code).find())
        .toList();
  }

  private static boolean isRunByTestOf(String line, String command) throws IOException {
    for (String test : GUEST_TEST.matcher(line).results().map(name -> name.group(1)).toList()) {
      if (Files.readString(DocumentationFiles.find(test + ".java")).contains(command)) {
        return true;
      }
    }
    return false;
  }

  /** The comments of a template, each of adjacent lines, as one line. */
  private static List<String> comments(Path template) throws IOException {
    List<String> comments = new ArrayList<>();
    StringBuilder comment = new StringBuilder();
    for (String line : (Files.readString(template) + "\n\n").split("\n", -1)) {
      String text = line.strip();
      if (text.startsWith("#")) {
        comment.append(text.substring(1)).append(' ');
      } else if (!comment.isEmpty()) {
        comments.add(comment.toString().replaceAll("\\s+", " "));
        comment.setLength(0);
      }
    }
    return comments;
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
    for (Path page : pages()) {
      COMMAND
          .matcher(withoutBlocks(page))
          .results()
          .map(found -> found.group(1).replaceAll("\\s+", " "))
          .forEach(one -> commands.add(new InText(PROJECT.relativize(page).toString(), one)));
    }
    return commands;
  }

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>(DocumentationFiles.userPages());
    pages.add(PROJECT.resolve("CONTRIBUTING.md"));
    return pages;
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
