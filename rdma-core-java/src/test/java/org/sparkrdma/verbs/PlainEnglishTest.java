// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Checks every source file, script, settings file and document of the repository for the words in
 * banned-words.txt.
 */
@Timeout(60)
class PlainEnglishTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path LIST = Path.of("src/test/resources/banned-words.txt");
  private static final Set<String> SKIPPED_FOLDERS = Set.of("target", ".git", ".idea");
  private static final Set<String> ENDINGS =
      Set.of(
          "java",
          "h",
          "scala",
          "md",
          "bash",
          "pl",
          "c",
          "txt",
          "template",
          "xml",
          "properties",
          "yaml",
          "conf",
          "css",
          "js");

  private record Word(Pattern pattern, String instead) {
    static Word parse(String line) {
      // The pattern may contain |, but no | between spaces.
      String[] parts = line.split(" \\| ", -1);
      assertThat(parts).as(line).hasSize(2);
      return new Word(Pattern.compile(parts[0].strip()), parts[1].strip());
    }

    boolean isIn(String line) {
      return pattern.matcher(line).find();
    }
  }

  private static List<Word> words() throws IOException {
    try (Stream<String> lines = Files.lines(LIST)) {
      return lines
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .map(Word::parse)
          .toList();
    }
  }

  private static List<String> findings(List<Word> words, String file, List<String> lines) {
    List<String> found = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      for (Word word : words) {
        if (word.isIn(lines.get(i))) {
          found.add(
              "%s:%d: %s (write: %s)".formatted(file, i + 1, lines.get(i).strip(), word.instead()));
        }
      }
    }
    return found;
  }

  /**
   * Source files, documents, settings and scripts. An executable file without an ending is a
   * script.
   */
  private static List<Path> files() throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return SKIPPED_FOLDERS.contains(folder.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            String name = file.getFileName().toString();
            int dot = name.lastIndexOf('.');
            boolean script = dot < 0 && Files.isExecutable(file);
            boolean text =
                name.equals("Dockerfile") || (dot > 0 && ENDINGS.contains(name.substring(dot + 1)));
            if ((script || text) && !name.equals(LIST.getFileName().toString())) {
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }

  @Test
  void shouldFindNoBannedWordInTheRepository() throws IOException {
    List<Word> words = words();
    List<String> found = new ArrayList<>();
    List<Path> files = files();
    for (Path file : files) {
      String relative = ROOT.relativize(file).toString();
      found.addAll(findings(words, relative, Files.readAllLines(file, StandardCharsets.UTF_8)));
    }

    assertThat(files).as("files of the repository").hasSizeGreaterThan(500);
    assertThat(files.stream().map(file -> ROOT.relativize(file).toString()))
        .contains(
            "pom.xml",
            "quickstart",
            "conf/Dockerfile",
            "conf/kubernetes-executor-pod.yaml",
            ".ci/run",
            ".mvn/allowed-skips.txt",
            "integration-tests/guest/init",
            "integration-tests/guest/lib/run.bash",
            "integration-tests/src/test/resources/logging/log4j2.properties");
    assertThat(found).isEmpty();
  }
}
