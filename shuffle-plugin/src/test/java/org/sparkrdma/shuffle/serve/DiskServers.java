// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.function.LongSupplier;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.device.Capability;

/** Creates servers that register windows, on fakes; clock and disks belong to the test. */
final class DiskServers {
  /** Time of each lease. */
  static final Duration LEASE = Duration.ofMinutes(5);

  private DiskServers() {}

  /**
   * A server without a thread of its own, which the caller closes.
   *
   * @param peerLeases see {@link ServeSettings}
   */
  static BlockServer of(
      FakeMapOutputs outputs,
      FakeDomain domain,
      PinnedBudget budget,
      ShuffleCounters counters,
      Duration requestTimeout,
      LongSupplier nanoClock,
      int peerLeases,
      List<DiskQueue> disks) {
    return new BlockServer(
        new ServerParameters(
            new ServeSettings(
                ServeSettings.Mode.WINDOW,
                ServerFixture.WINDOW,
                ServerFixture.SLOT,
                0,
                LEASE,
                1000,
                peerLeases,
                100,
                Duration.ofHours(1),
                false,
                false),
            outputs,
            new FakeDevice(10_000, EnumSet.of(Capability.FILE_REGIONS)),
            domain,
            budget,
            counters,
            peer -> {},
            requestTimeout,
            nanoClock),
        disks);
  }
}
