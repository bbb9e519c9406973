// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TransferLogTest {
  @TempDir private Path directory;

  @Test
  void shouldReportApplicationsWhoseBlocksAllCameByTcpOrBySparksReader() throws IOException {
    put("app-1_0_10", "3 0");
    put("app-2_0_11", "0 5");
    put("app-3_0_12", "0 0");
    put("app-3_driver_9", "0 0 5");
    assertThat(TransferLog.read(directory).objections(Setting.SOFT, true))
        .satisfiesExactly(
            first -> assertThat(first).contains("application=app-2"),
            second -> assertThat(second).contains("application=app-3", "remote=5"));
  }

  private void put(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name), text);
  }
}
