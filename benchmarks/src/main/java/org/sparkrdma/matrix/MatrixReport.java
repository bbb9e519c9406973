// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.util.List;

/**
 * All cells, those that ran and those that did not.
 *
 * @param run when and where
 */
record MatrixReport(MatrixRun run, List<CellResult> cells, List<CellSelection.NotRun> notRun) {
  boolean allPassed() {
    return cells.stream().allMatch(CellResult::hasPassed);
  }
}
