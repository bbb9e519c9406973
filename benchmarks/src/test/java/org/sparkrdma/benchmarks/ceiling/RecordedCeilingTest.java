// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.RecordedTables;

class RecordedCeilingTest {
  @Test
  void shouldShowTheRowsOfEachRecordedReport() throws IOException {
    RecordedTables.assertShown("ceiling", CeilingReport.class, CeilingTable::tables);
  }
}
