// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import org.sparkrdma.guest.cluster.StepResult;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.git.Commit;
import org.sparkrdma.launch.git.GitRepository;

/**
 * Results of {@link GuestMatrixIT} and {@link LostMessagesIT} in {@code guest-matrix.json} of the
 * build directory. A row that was started and has not passed is null. Confined to the test's
 * thread.
 */
final class MatrixResults {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The commit that is checked out. */
  private static final class Checkout {
    static final String COMMIT = commit();

    private static String commit() {
      var repository = new GitRepository(Path.of("").toAbsolutePath());
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

  MatrixResults() throws IOException {
    all = Files.exists(file) ? (ObjectNode) JSON.readTree(file.toFile()) : JSON.createObjectNode();
  }

  /** Removes the result of a row. */
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

  void write() throws IOException {
    JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), all);
  }
}
