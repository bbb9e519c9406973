// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.serve.ServerParameters;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;

/** A block server without map outputs, for tests of the reading side. It is never started. */
final class UnusedBlockServer {
  private UnusedBlockServer() {}

  static BlockServer of(
      Device device, ProtectionDomain domain, PinnedBudget budget, LongSupplier nanoClock) {
    return new BlockServer(
        new ServerParameters(
            new ServeSettings(
                ServeSettings.Mode.COPY,
                1 << 20,
                16 << 10,
                1,
                Duration.ofSeconds(30),
                1,
                1,
                Duration.ofMinutes(1),
                false),
            new NoOutputs(),
            device,
            domain,
            budget,
            new ShuffleCounters(),
            peer -> {},
            command -> {},
            nanoClock));
  }

  private static final class NoOutputs implements MapOutputs {
    @Override
    public MapOutput open(int shuffleId, long mapId) {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<Path> directories() {
      return List.of();
    }
  }
}
