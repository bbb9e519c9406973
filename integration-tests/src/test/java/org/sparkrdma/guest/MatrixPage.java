// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.sparkrdma.guest.cluster.StepResult;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.git.Commit;
import org.sparkrdma.launch.git.GitRepository;

/**
 * Results of {@link GuestMatrixIT} and {@link LostMessagesIT} in {@code guest-matrix.json}; with
 * {@code -Dupdate.docs=true} also the page {@code docs/guest-matrix.md}. A row that this build has
 * not started keeps its result in the page, while its first columns are the same. One that was
 * started and has not passed has none. Confined to the test's thread.
 */
final class MatrixPage {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String RUN = "kernel, Java, commit, date";

  /** Columns of the results of a cell. */
  static final List<String> OF_CELL = List.of("bytes", "by TCP, because", RUN);

  /** Columns of the results of a lost message. */
  private static final List<String> OF_LOST =
      List.of(
          "bytes of the first job", "by TCP, because", "its seconds", "bytes of later jobs", RUN);

  /** The commit that is checked out, read before this class changes the page. */
  private static final class Checkout {
    static final String COMMIT = commit();

    private static String commit() {
      var repository = new GitRepository(Path.of(Build.property("it.matrix.page")).getParent());
      try {
        return repository.commit("HEAD").map(Commit::shortHash).orElse("in no repository")
            + (repository.hasChanges() ? " with changed files" : "");
      } catch (IOException | LaunchException e) {
        return "unknown commit";
      } catch (InterruptedException e) {
        throw new IllegalStateException("interrupted", e);
      }
    }
  }

  private final Path file =
      Path.of(Build.property("it.guest.report")).resolveSibling("guest-matrix.json");
  private final ObjectNode all;

  MatrixPage() throws IOException {
    all = Files.exists(file) ? (ObjectNode) JSON.readTree(file.toFile()) : JSON.createObjectNode();
  }

  /** Removes the result of a row, and writes the page. */
  void start(String key) throws IOException {
    System.out.println("guest matrix: row=" + key + " commit=" + Checkout.COMMIT);
    all.putNull(key);
    write();
  }

  /** The result of a row that has passed; {@code cluster} has a file with its kernel's release. */
  ObjectNode result(String key, ClusterRun cluster) throws IOException {
    return all.putObject(key)
        .put("release", cluster.content("release").strip())
        .put("java", GuestJdk.version())
        .put("commit", Checkout.COMMIT)
        .put("date", LocalDate.now(ZoneOffset.UTC).toString());
  }

  /** Adds the bytes, reasons and duration of a step. */
  static void put(ObjectNode result, StepResult step) {
    result
        .put("readBytes", step.rdmaBytes())
        .put("tcpBytes", step.tcpBytes())
        .put("remoteBytes", step.remoteBytesRead())
        .put("seconds", Math.round(step.seconds()));
    result.set("fallbacks", JSON.valueToTree(step.fallbacks()));
  }

  /** Writes the results, and the page where it is to be updated. */
  void write() throws IOException {
    JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), all);
    if (Boolean.getBoolean("update.docs")) {
      Path page = Path.of(Build.property("it.matrix.page"));
      Files.writeString(page, text(Files.readAllLines(page)));
    }
  }

  private String text(List<String> before) {
    StringBuilder page = new StringBuilder(MatrixReport.HEAD);
    addHeader(page, MatrixCell.COLUMNS, OF_CELL);
    for (MatrixCell cell : MatrixCell.all()) {
      page.append(row(before, cell.values(), all.get(cell.name()), OF_CELL, MatrixPage::ofCell));
    }
    page.append(MatrixReport.FOOT).append(LostMessage.HEAD);
    addHeader(page, LostMessage.COLUMNS, OF_LOST);
    for (LostMessage lost : LostMessage.values()) {
      page.append(row(before, lost.columns(), all.get(lost.key()), OF_LOST, MatrixPage::ofLost));
    }
    return page.toString();
  }

  private static void addHeader(StringBuilder page, List<String> columns, List<String> results) {
    List<String> names = Stream.concat(columns.stream(), results.stream()).toList();
    page.append(row(names)).append(row(names.stream().map(name -> "---").toList()));
  }

  /**
   * A row with its result.
   *
   * @param before lines of the page as it is
   * @param values of the first columns
   * @param result null when this build has not started the row, a null node when it has not passed
   * @param columns of results
   * @param words the result as the values of these columns
   */
  static String row(
      List<String> before,
      List<String> values,
      JsonNode result,
      List<String> columns,
      Function<JsonNode, List<String>> words) {
    String prefix = "| " + String.join(" | ", values) + " | ";
    if (result == null) {
      for (String line : before) {
        if (line.startsWith(prefix)) {
          return line + "\n";
        }
      }
    }
    List<String> cells = new ArrayList<>(values);
    if (result == null || result.isNull()) {
      cells.add("not run");
      columns.stream().skip(1).forEach(column -> cells.add(""));
    } else {
      cells.addAll(words.apply(result));
    }
    return row(cells);
  }

  private static List<String> ofCell(JsonNode result) {
    return List.of(bytes(result), reasons(result), run(result));
  }

  private static List<String> ofLost(JsonNode result) {
    return List.of(
        bytes(result),
        reasons(result),
        result.path("seconds").asText(),
        bytes(result.path("later")),
        run(result));
  }

  private static String bytes(JsonNode result) {
    long read = result.path("readBytes").asLong();
    long tcp = result.path("tcpBytes").asLong();
    List<String> bytes = new ArrayList<>();
    add(bytes, "READ", read);
    add(bytes, "TCP", tcp);
    add(bytes, "Spark's own", result.path("remoteBytes").asLong() - read - tcp);
    return String.join(", ", bytes);
  }

  private static void add(List<String> bytes, String path, long count) {
    if (count > 0) {
      bytes.add(path + " " + count);
    }
  }

  private static String reasons(JsonNode result) {
    List<String> reasons = new ArrayList<>();
    result.path("fallbacks").fieldNames().forEachRemaining(reasons::add);
    return String.join(", ", reasons);
  }

  private static String run(JsonNode result) {
    return Stream.of("release", "java", "commit", "date")
        .map(field -> result.path(field).asText())
        .filter(value -> !value.isEmpty())
        .collect(Collectors.joining(", "));
  }

  private static String row(List<String> values) {
    return "| " + String.join(" | ", values) + " |\n";
  }
}
