// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.RecordedTables;

class RecordedTransferTest {
  @Test
  void shouldShowTheRowsOfEachRecordedReport() throws IOException {
    RecordedTables.assertShown("transfer", TransferReport.class, TransferTable::tables);
  }
}
