// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import org.sparkrdma.guest.cluster.StepResult;

/** The result of a cell of the guest matrix. */
final class MatrixReport {
  private final MatrixCell cell;
  private final MatrixResults results;

  MatrixReport(MatrixCell cell) throws IOException {
    this.cell = cell;
    results = new MatrixResults();
    results.start(cell.name());
  }

  /** The cell has passed all assertions. */
  void passed(ClusterRun cluster, StepResult blocks) throws IOException {
    ObjectNode result = results.result(cell.name(), cluster);
    for (int i = 1; i < MatrixCell.COLUMNS.size(); i++) {
      result.put(MatrixCell.COLUMNS.get(i), cell.values().get(i));
    }
    MatrixResults.put(result, blocks);
    results.write();
  }
}
