// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Watches the sizes of the parts of the project, which {@code dev/build/budget.csv} has: a part may
 * grow a little before its row has to.
 */
@Timeout(60)
class BudgetTest {
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern SOURCE = Pattern.compile(".*\\.(java|scala|c|h|js)");
  private static final Pattern BLOCK_COMMENT = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);
  private static final Pattern BROAD_CATCH =
      Pattern.compile(
          "catch \\((?:final )?(?:Throwable|Error|OutOfMemoryError|VirtualMachineError)\\b");
  private static final Pattern CATCHES_COUNT =
      Pattern.compile("(shuffle-plugin|rdma-core-java)/src/main.*");
  private static final int GROWTH_PERCENT = 3;
  private static final String DOCUMENTS = "documents KB";
  private static final String CATCHES = "catch Throwable or Error";

  /** A line of the budget; {@code files} is empty for the two that count no lines. */
  private record Part(String name, long size, Pattern files) {
    static Part parse(String line) {
      String[] fields = line.split(",", 4);
      assertThat(fields).as(line).hasSize(4);
      return new Part(fields[0], Long.parseLong(fields[1]), Pattern.compile(fields[3]));
    }

    long atMost() {
      return size + size * GROWTH_PERCENT / 100;
    }
  }

  private static List<Part> budget() throws IOException {
    return Files.readAllLines(ROOT.resolve("dev/build/budget.csv")).stream()
        .skip(1)
        .filter(line -> !line.startsWith("#"))
        .map(Part::parse)
        .toList();
  }

  @Test
  void shouldKeepEachPartWithinItsBudget() throws Exception {
    List<Part> budget = budget();
    List<String> unknown = new ArrayList<>();
    Map<String, Long> sizes = measure(budget, files(), unknown);

    assertThat(unknown).as("source files without a row in dev/build/budget.csv").isEmpty();
    assertThat(sizes.get("tests")).as("lines that were counted").isGreaterThan(10_000);
    assertThat(budget.stream().filter(part -> sizes.get(part.name()) > part.atMost()))
        .extracting(part -> part.name() + ": " + sizes.get(part.name()) + " > " + part.atMost())
        .as("parts that are larger than dev/build/budget.csv allows")
        .isEmpty();
  }

  /** Sizes by part; adds to {@code unknown} each source file that is of no part. */
  private static Map<String, Long> measure(
      List<Part> budget, List<String> files, List<String> unknown) throws IOException {
    Map<String, Long> sizes = new LinkedHashMap<>();
    budget.forEach(part -> sizes.put(part.name(), 0L));
    long documentBytes = 0;
    long catches = 0;
    for (String file : files) {
      Path path = ROOT.resolve(file);
      if (file.endsWith(".md")) {
        documentBytes += Files.size(path);
      } else if (SOURCE.matcher(file).matches()) {
        String text = Files.readString(path, StandardCharsets.UTF_8);
        budget.stream()
            .filter(part -> part.files().matcher(file).matches())
            .findFirst()
            .ifPresentOrElse(
                part -> sizes.merge(part.name(), codeLines(text), Long::sum),
                () -> unknown.add(file));
        if (CATCHES_COUNT.matcher(file).matches()) {
          catches += BROAD_CATCH.matcher(text).results().count();
        }
      }
    }
    sizes.put(DOCUMENTS, documentBytes / 1_000);
    sizes.put(CATCHES, catches);
    return sizes;
  }

  private static long codeLines(String text) {
    return BLOCK_COMMENT
        .matcher(text)
        .replaceAll("")
        .lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty() && !line.startsWith("//"))
        .count();
  }

  /** Files of the repository, also those that are not yet added, but not those that are deleted. */
  static List<String> files() throws IOException, InterruptedException {
    Process git =
        new ProcessBuilder("git", "ls-files", "-z", "-co", "--exclude-standard")
            .directory(ROOT.toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String names = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(git.waitFor()).as("exit code of git ls-files").isZero();
    return Stream.of(names.split("\0", -1))
        .filter(name -> !name.isEmpty() && Files.isRegularFile(ROOT.resolve(name)))
        .toList();
  }
}
