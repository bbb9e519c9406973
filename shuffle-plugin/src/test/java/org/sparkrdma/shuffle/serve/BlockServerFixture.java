// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.StubDevice;

/** A server whose agent, disk threads and clock are the test. */
abstract class BlockServerFixture {
  @TempDir Path folder;
  final Queue<Runnable> commands = new ArrayDeque<>();
  final HandWorkers workers = new HandWorkers(2);
  final StubDevice device = new StubDevice();
  final ShuffleCounters counters = new ShuffleCounters();
  long nowNs = 1_000;

  /** What the budget keeps for receive memory. */
  long receiveBytes;

  PinnedBudget budget;
  BlockServer server;

  final void start(
      ServeSettings settings, MapOutputs outputs, long budgetBytes, WindowPrice price) {
    budget = new PinnedBudget(budgetBytes, StubDevice.PAGE);
    budget.reserve(receiveBytes);
    server =
        new BlockServer(
            new ServerParameters(
                settings,
                outputs,
                new OpenDevice(device, device, budget, () -> nowNs),
                counters,
                commands::add),
            workers,
            new SystemFiles(folder),
            price);
  }

  /** Lets the agent work. */
  final void runCommands() {
    workers.runOthers();
    for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
      command.run();
    }
  }

  @AfterEach
  void close() {
    assertThat(server.close(Duration.ZERO, this::runCommands)).isTrue();
    assertThat(device.regionCount()).isZero();
    budget.close();
  }
}
