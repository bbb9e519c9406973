// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.device.Capability;

/** Creates and closes servers on fakes; clock and disks are the test's. */
final class DiskServers {
  /** Number of threads of each disk, as long as no job takes long. */
  static final int THREADS = 4;

  /** Time of each lease. */
  static final Duration LEASE = Duration.ofMinutes(5);

  private DiskServers() {}

  /**
   * Map outputs on two disks, so many in each of the shuffles, each of one block of 1,000 bytes.
   */
  static FakeMapOutputs outputsOnTwoDisks(Path folder, int maps, int... shuffles)
      throws IOException {
    FakeMapOutputs outputs = new FakeMapOutputs(folder);
    outputs.spreadOver(2);
    for (int map = 0; map < maps; map++) {
      for (int shuffle : shuffles) {
        outputs.write(shuffle, map, new Random(map), true, 1000);
      }
    }
    return outputs;
  }

  /**
   * Unregisters the shuffles, asserts that no lease keeps one of them, and closes the server.
   *
   * @param pass gives the server its turns
   */
  static void closeWithoutLeases(BlockServer server, Runnable pass, int... shuffles) {
    List<Integer> unregistered = new ArrayList<>();
    for (int shuffle : shuffles) {
      server.unregisterShuffle(shuffle, () -> unregistered.add(shuffle));
    }
    pass.run();
    Integer[] all = IntStream.of(shuffles).boxed().toArray(Integer[]::new);
    assertThat(unregistered).as("no lease is left").containsExactlyInAnyOrder(all);
    server.close();
  }

  /**
   * A server that registers windows, without a thread of its own; the caller closes it.
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
    return of(
        outputs, domain, budget, counters, requestTimeout, nanoClock, windows(peerLeases), disks);
  }

  /** A server without a thread of its own, which the caller closes. */
  static BlockServer of(
      FakeMapOutputs outputs,
      FakeDomain domain,
      PinnedBudget budget,
      ShuffleCounters counters,
      Duration requestTimeout,
      LongSupplier nanoClock,
      ServeSettings settings,
      List<DiskQueue> disks) {
    return new BlockServer(
        parameters(outputs, domain, budget, counters, requestTimeout, nanoClock, settings), disks);
  }

  /** Parameters of such a server. */
  static ServerParameters parameters(
      FakeMapOutputs outputs,
      FakeDomain domain,
      PinnedBudget budget,
      ShuffleCounters counters,
      Duration requestTimeout,
      LongSupplier nanoClock,
      ServeSettings settings) {
    return new ServerParameters(
        settings,
        outputs,
        new FakeDevice(10_000, EnumSet.of(Capability.FILE_REGIONS, Capability.ON_DEMAND_PAGING)),
        domain,
        budget,
        counters,
        peer -> {},
        requestTimeout,
        nanoClock);
  }

  /** Registers windows and copies nothing. */
  static ServeSettings windows(int peerLeases) {
    return settings(ServeSettings.Mode.WINDOW, 0, peerLeases);
  }

  /** Copies into slots and registers no file. */
  static ServeSettings copies(int slots) {
    return settings(ServeSettings.Mode.COPY, slots, slots);
  }

  /** Registers windows that page on demand. */
  static ServeSettings onDemand(int slots) {
    return settings(ServeSettings.Mode.ODP, slots, 1000);
  }

  private static ServeSettings settings(ServeSettings.Mode mode, int slots, int peerLeases) {
    return new ServeSettings(
        mode,
        ServerFixture.WINDOW,
        ServerFixture.SLOT,
        slots,
        LEASE,
        1000,
        peerLeases,
        100,
        Duration.ofHours(1),
        false,
        false);
  }
}
