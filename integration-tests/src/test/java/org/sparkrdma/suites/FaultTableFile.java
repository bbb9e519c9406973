// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.sparkrdma.faults.FaultBound;

/**
 * The table {@code fault-table.json}, merged from the row files of scenarios, unit tests and guest
 * tests. Used by one thread.
 */
public final class FaultTableFile {
  private static final String FOLDER = "fault-rows";
  private static final String GUEST = "guest-";

  /** Number of rows of each scenario. */
  private static final Map<String, Integer> OF_SUITES =
      Map.of(
          "cluster.json", 66,
          "decommission.json", 1,
          "driver-restart.json", 2,
          "dynamic-allocation.json", 1,
          "upgrade.json", 2);

  /** Number of rows of scenarios that some machines skip; all of them or none. */
  private static final Map<String, Integer> OF_SKIPPED_SUITES =
      Map.of("failing-disk.json", 3, "full-disk.json", 4, "memory-limit.json", 1);

  /** Number of rows of each unit test. */
  private static final Map<String, Integer> OF_UNIT_TESTS =
      Map.of("hostile-server.json", 46, "hostile-peer.json", 38);

  /**
   * Places whose rows have the number of comparisons; elsewhere the answer of a job is compared.
   */
  private static final Set<String> WITH_COUNTS = Set.of("server", "stub");

  private static final Path COMPILER = Path.of("/usr/bin/cc");

  /** Number of rows of tests that need a C compiler; without one they are skipped. */
  private static final Map<String, Integer> OF_COMPILED =
      Map.of(
          "scripted-device-calls.json", 94,
          "scripted-device-limits.json", 12,
          "scripted-device-access.json", 11,
          "scripted-device-set-up.json", 16,
          "scripted-device-changes.json", 41,
          "scripted-device-gids.json", 3,
          "scripted-device-iwarp.json", 11);

  /** Number of rows of each test on guest kernels that ran. */
  private static final Map<String, Integer> OF_GUEST =
      Map.of(
          "guest-transports.json", 11,
          "guest-rocev2-authenticated.json", 2,
          "guest-iwarp-authenticated.json", 2,
          "guest-limited.json", 2);

  private final Path target;
  private final Map<String, List<JsonNode>> files = new TreeMap<>();

  /**
   * @param target build directory of this module
   */
  public FaultTableFile(Path target) {
    this.target = target;
  }

  /** The folder for rows of this module's tests. */
  public static Path rowFolder(Path target) {
    return target.resolve(FOLDER);
  }

  /** Deletes the rows of earlier runs of the scenarios. */
  void deleteRowsOfSuites() throws IOException {
    List<String> ofSuites = new ArrayList<>(OF_SUITES.keySet());
    ofSuites.addAll(OF_SKIPPED_SUITES.keySet());
    for (String file : ofSuites) {
      Files.deleteIfExists(rowFolder(target).resolve(file));
    }
  }

  /** Writes the table, and returns the number of its rows as text. */
  public String merge() throws IOException {
    files.clear();
    Path modules = target.toAbsolutePath().getParent().getParent();
    List<String> lines = new ArrayList<>();
    for (Path folder :
        List.of(
            rowFolder(target),
            rowFolder(modules.resolve("shuffle-plugin/target")),
            rowFolder(modules.resolve("rdma-core-java/target")))) {
      if (Files.isDirectory(folder)) {
        lines.addAll(read(folder, folder.equals(rowFolder(target))));
      }
    }
    Files.writeString(
        target.resolve("fault-table.json"),
        "{\"faults\":[\n" + String.join(",\n", lines) + "\n]}\n");
    Map<String, Integer> places = new TreeMap<>();
    rows().forEach(row -> places.merge(row.path("where").asText(), 1, Integer::sum));
    return "fault-table.json: rows=" + lines.size() + " where=" + places;
  }

  /**
   * Reads the files of a folder.
   *
   * @param all otherwise only those of unit tests that exist: an earlier build may have left others
   */
  private List<String> read(Path folder, boolean all) throws IOException {
    List<String> lines = new ArrayList<>();
    try (Stream<Path> found = Files.list(folder)) {
      for (Path file : found.filter(file -> all || isOfUnitTest(file)).sorted().toList()) {
        List<JsonNode> rows = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
          rows.add(new ObjectMapper().readTree(line));
          lines.add(line);
        }
        files.put(file.getFileName().toString(), rows);
      }
    }
    return lines;
  }

  private static boolean isOfUnitTest(Path file) {
    String name = file.getFileName().toString();
    return OF_UNIT_TESTS.containsKey(name) || OF_COMPILED.containsKey(name);
  }

  private Stream<JsonNode> rows() {
    return files.values().stream().flatMap(List::stream);
  }

  /**
   * Checks the merged rows and returns all objections.
   *
   * @param suitesRan whether all scenarios have run in this build
   * @param unitTestsRan whether all unit tests have run in this build
   */
  List<String> problems(boolean suitesRan, boolean unitTestsRan) {
    List<String> problems = new ArrayList<>();
    rows().forEach(row -> addProblem(problems, row));
    if (suitesRan) {
      OF_SUITES.forEach((file, expected) -> requireRows(problems, file, expected));
      OF_SKIPPED_SUITES.forEach((file, expected) -> requireRowsOfPresent(problems, file, expected));
    }
    if (unitTestsRan) {
      OF_UNIT_TESTS.forEach((file, expected) -> requireRows(problems, file, expected));
    }
    OF_COMPILED.forEach(
        (file, expected) -> {
          if (unitTestsRan && Files.isExecutable(COMPILER)) {
            requireRows(problems, file, expected);
          } else {
            requireRowsOfPresent(problems, file, expected);
          }
        });
    files.keySet().stream()
        .filter(file -> file.startsWith(GUEST))
        .forEach(file -> requireRowsOfGuest(problems, file));
    long rows = rowsWithoutGuest().count();
    if (distinct().size() < rows) {
      problems.add("distinct pairs of fault and recovery: " + distinct().size() + " of " + rows);
    }
    return problems;
  }

  /** Objections to the rows of one test on guest kernels. */
  public List<String> problemsOfGuest(String file) {
    List<String> problems = new ArrayList<>();
    files.getOrDefault(file, List.of()).forEach(row -> addProblem(problems, row));
    requireRowsOfGuest(problems, file);
    return problems;
  }

  private void requireRowsOfGuest(List<String> problems, String file) {
    if (OF_GUEST.containsKey(file)) {
      requireRows(problems, file, OF_GUEST.get(file));
    } else {
      problems.add("no expected number of rows of " + file);
    }
  }

  private static void addProblem(List<String> problems, JsonNode row) {
    JsonNode right = row.path("answerRight");
    JsonNode afterwards = row.path("rightAfterwards");
    if (isFalse(right)
        || isFalse(afterwards)
        || row.path("seconds").asDouble() > row.path("boundSeconds").asDouble()) {
      problems.add("wrong or late: " + row);
    }
    if (row.path("boundSeconds").asDouble() > highestBound(row)) {
      problems.add("bound above ten times the time: " + row);
    }
    boolean counts = WITH_COUNTS.contains(row.path("where").asText());
    if (counts
        && (claimsMore(right, row.path("compared"))
            || claimsMore(afterwards, row.path("comparedAfterwards")))) {
      problems.add("right without a comparison: " + row);
    }
    if (!right.isBoolean() && !(counts && afterwards.isBoolean())) {
      problems.add("nothing compared: " + row);
    }
    if (counts && row.path("hits").asLong() < 1) {
      problems.add("a fault that did not happen: " + row);
    }
  }

  /** The highest bound that a row may have: ten times its time, or more where that is brief. */
  private static double highestBound(JsonNode row) {
    // Tests that start processes or repeat tasks do not measure pauses.
    int least =
        row.has("pauseMs")
            ? FaultBound.seconds(FaultBound.BRIEF, row.path("pauseMs").asLong())
            : FaultBound.OF_A_START;
    return Math.max(10 * row.path("seconds").asDouble(), least);
  }

  private static boolean isFalse(JsonNode right) {
    return right.isBoolean() && !right.asBoolean();
  }

  private static boolean claimsMore(JsonNode right, JsonNode compared) {
    return right.isBoolean() && compared.asLong() < 1;
  }

  private Stream<JsonNode> rowsWithoutGuest() {
    return rows().filter(row -> !row.path("where").asText().equals("guest"));
  }

  private void requireRows(List<String> problems, String file, int expected) {
    int rows = files.getOrDefault(file, List.of()).size();
    if (rows != expected) {
      problems.add("rows of " + file + ": " + rows + " of " + expected);
    }
  }

  private void requireRowsOfPresent(List<String> problems, String file, int expected) {
    if (files.containsKey(file)) {
      requireRows(problems, file, expected);
    }
  }

  /** Pairs of fault and recovery. */
  private Set<List<String>> distinct() {
    return rowsWithoutGuest()
        .map(row -> List.of(row.path("name").asText(), row.path("recovery").asText()))
        .collect(Collectors.toSet());
  }
}
