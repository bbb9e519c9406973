// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LiveProcessesTest {
  @TempDir private Path directory;

  @Test
  void shouldEndAllWhenClosedAndStartNoMore() throws IOException {
    LiveProcesses processes = new LiveProcesses();
    ClusterProcess first = processes.start(sleep(), log());
    ClusterProcess second = processes.start(sleep(), log());

    processes.close();
    processes.close();

    assertThat(first.isAlive()).isFalse();
    assertThat(second.isAlive()).isFalse();
    assertThatThrownBy(() -> processes.start(sleep(), log()))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldEndOneAndLeaveTheOthers() throws IOException {
    try (LiveProcesses processes = new LiveProcesses()) {
      ClusterProcess first = processes.start(sleep(), log());
      ClusterProcess second = processes.start(sleep(), log());

      processes.end(first);

      assertThat(first.isAlive()).isFalse();
      assertThat(second.isAlive()).isTrue();
    }
  }

  private Path log() {
    return directory.resolve("log");
  }

  private static ProcessBuilder sleep() {
    return new ProcessBuilder("sleep", "600");
  }
}
