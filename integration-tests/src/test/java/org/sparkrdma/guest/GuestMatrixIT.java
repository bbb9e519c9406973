// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.guest.ClusterRun.assertAllByRead;

import java.io.IOException;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.guest.cluster.StepResult;

/**
 * The guest matrix: a short job in each cell of {@code guest/matrix.csv}, between two kernels. The
 * result must be vanilla Spark's, and the cell says by which path its bytes come. CI runs one cell.
 * {@code -Dguest.cells=NAME,NAME} selects cells.
 */
@Isolated("It takes both processors.")
@Timeout(900)
final class GuestMatrixIT {
  private static final String OF_CI = "ci";

  @Test
  void shouldAnswerRightInTheCellOfCi() throws Exception {
    run(MatrixCell.all().stream().filter(cell -> cell.name().equals(OF_CI)).findFirst().get());
  }

  @ParameterizedTest
  @MethodSource("otherCells")
  @Tag("nightly")
  void shouldAnswerRightInEachOtherCell(MatrixCell cell) throws Exception {
    run(cell);
  }

  static Stream<MatrixCell> otherCells() {
    String selected = System.getProperty("guest.cells", "");
    return MatrixCell.all().stream()
        .filter(cell -> !cell.name().equals(OF_CI))
        .filter(
            cell -> selected.isEmpty() || ("," + selected + ",").contains("," + cell.name() + ","));
  }

  private static void run(MatrixCell cell) throws Exception {
    ClusterRun cluster = cell.cluster();
    Map<String, StepResult> steps = cluster.run(cell.application());
    StepResult blocks = steps.get(cell.application() + "/blocks");
    StepResult later = steps.getOrDefault(cell.application() + "/later", blocks);
    System.out.println(cell.name() + ": " + steps);
    assertThat(steps.values()).isNotEmpty().allMatch(StepResult::right);
    assertThat(steps.values()).allSatisfy(step -> assertThat(step.failedTasks()).isZero());
    String logs = cluster.executorLogs(1) + cluster.executorLogs(2);
    assertCopies(cell, cluster);
    switch (cell.expected()) {
      case "read" -> assertAllByRead(blocks);
      case "once" -> {
        assertThat(blocks.rdmaBytes()).as("%s", blocks).isPositive();
        assertThat(blocks.rdmaBytes() + blocks.tcpBytes())
            .as("%s", blocks)
            .isEqualTo(blocks.remoteBytesRead());
      }
      case "tcp" -> {
        assertThat(blocks.remoteBytesRead()).as("%s", blocks).isPositive();
        assertThat(blocks.rdmaBytes()).as("%s", blocks).isZero();
        assertThat(logs).contains("RDMA is not used in this executor").contains(cell.reason());
      }
      case "back" ->
          assertThat(logs)
              .containsPattern(
                  "RDMA is not used in this executor until it can be started: "
                      + cell.reasonOfLoss());
      default -> throw new IllegalStateException("bad table: expected=" + cell.expected());
    }
    if (cell.hasFault()) {
      assertAllByRead(later);
    }
    if (cell.hasFailingAllocations()) {
      int refused = FailingAllocations.refused(cluster);
      System.out.println(cell.name() + ": allocations that the kernel refused: " + refused);
      assertThat(refused).isPositive();
    }
  }

  /** Executors on both nodes copy map outputs where registration would write them again. */
  private static void assertCopies(MatrixCell cell, ClusterRun cluster) throws IOException {
    for (int node = 1; node <= 2; node++) {
      String log = cluster.executorLogs(node);
      if (cell.copiesMapOutputs()) {
        assertThat(log)
            .as("node %s", node)
            .containsPattern(
                "Map outputs in "
                    + MatrixCell.LOCAL
                    + "/\\S+ are served by copies: Linux 6\\.1\\.\\S* would write registered"
                    + " files of \\w+ again, "
                    // What can be written is not tried on NFS.
                    + (cell.files().equals("nfs") ? "by its version" : "as a trial shows"));
      } else {
        assertThat(log).as("node %s", node).doesNotContain("would write registered files");
      }
    }
  }
}
