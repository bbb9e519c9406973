// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Located.Kind;
import org.sparkrdma.verbs.device.Capability;

/** Deregistration of idle memory, with a manual clock. */
@Timeout(60)
class IdleMemoryTest {
  /** The size of a region of slots, so that each slot has a region of its own. */
  private static final int LARGE_SLOT = 4 << 20;

  @TempDir Path folder;
  private final Random random = new Random(4);

  @Test
  void shouldDeregisterAWindowAfterTheIdleTimeout() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20)) {
      on.outputs.write(1, 0, random, true, 100);
      on.outputs.write(1, 1, random, true, 100);
      var first = on.ask(9, Wanted.of(1, 0, 0, 1));
      on.release(9, first.leaseId);
      on.sleep(ServerFixture.IDLE.dividedBy(2));
      var second = on.ask(9, Wanted.of(1, 1, 0, 1));
      on.release(9, second.leaseId);
      on.sleep(ServerFixture.IDLE.dividedBy(2).minusNanos(1));
      assertThat(on.domain.regionCount()).isEqualTo(2);
      on.sleep(Duration.ofNanos(1));
      assertThat(on.domain.regionCount()).as("the other one is used later").isEqualTo(1);
      on.sleep(ServerFixture.IDLE.dividedBy(2));
      assertThat(on.domain.regionCount()).isZero();
      assertThat(on.budget.pinnedBytes()).isZero();
      assertThat(on.count(Counter.WINDOWS_RETURNED)).isEqualTo(2);
      assertThat(on.count(Counter.WINDOWS_EVICTED)).isZero();
      assertThat(on.ask(9, Wanted.of(1, 0, 0, 1)).read(0))
          .isEqualTo(on.outputs.expected(1, 0, 0, 1));
    }
  }

  @Test
  void shouldDeregisterAFewWindowsPerTurn() throws IOException {
    int windows = 2 * IdleMemory.MAX_REGIONS + 1;
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20)) {
      leaseAndRelease(on, windows);
      on.sleep(ServerFixture.IDLE);
      assertThat(on.domain.regionCount()).isEqualTo(IdleMemory.MAX_REGIONS + 1);
      on.server.doWork();
      assertThat(on.domain.regionCount()).as("in the pause").isEqualTo(IdleMemory.MAX_REGIONS + 1);
      on.sleep(IdleMemory.PAUSE);
      assertThat(on.domain.regionCount()).isEqualTo(1);
      on.sleep(IdleMemory.PAUSE);
      assertThat(on.domain.regionCount()).isZero();
      assertThat(on.count(Counter.WINDOWS_RETURNED)).isEqualTo(windows);
    }
  }

  @Test
  void shouldDeregisterAFewWindowsOfAnUnregisteredShufflePerTurn() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20)) {
      leaseAndRelease(on, IdleMemory.MAX_REGIONS + 1);
      boolean[] done = new boolean[1];
      on.server.unregisterShuffle(1, () -> done[0] = true);
      on.server.doWork();
      assertThat(on.domain.regionCount()).isEqualTo(1);
      assertThat(done[0]).isFalse();
      on.sleep(IdleMemory.PAUSE);
      assertThat(on.domain.regionCount()).isZero();
      assertThat(done[0]).isTrue();
    }
  }

  @Test
  void shouldDeregisterAFewWindowsPerTurnWhenThePeerThatHasThemEnds() throws IOException {
    int windows = 2 * IdleMemory.MAX_REGIONS + 1;
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20)) {
      for (int map = 0; map < windows; map++) {
        on.outputs.write(1, map, random, true, 100);
        on.ask(9, Wanted.of(1, map, 0, 1));
      }
      boolean[] done = new boolean[1];
      on.server.unregisterShuffle(1, () -> done[0] = true);
      on.server.doWork();
      assertThat(on.domain.regionCount()).as("all leased").isEqualTo(windows);
      on.onPeerGone(9);
      assertThat(on.domain.regionCount()).isEqualTo(IdleMemory.MAX_REGIONS + 1);
      assertThat(on.server.untilNextDeadlineNs()).isLessThanOrEqualTo(IdleMemory.PAUSE.toNanos());
      on.sleep(IdleMemory.PAUSE);
      assertThat(on.domain.regionCount()).isEqualTo(1);
      assertThat(done[0]).isFalse();
      on.sleep(IdleMemory.PAUSE);
      assertThat(on.domain.regionCount()).isZero();
      assertThat(done[0]).isTrue();
    }
  }

  @Test
  void shouldDeregisterAFewWindowsPerTurnOfAMapOutputThatLeavesTheCache() throws IOException {
    int windows = 2 * IdleMemory.MAX_REGIONS;
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 64L << 20)) {
      int[] partitions = new int[windows];
      Arrays.fill(partitions, ServerFixture.WINDOW);
      on.outputs.write(1, 0, random, true, partitions);
      for (int i = 0; i < windows; i++) {
        on.release(9, on.ask(9, Wanted.of(1, 0, i, i + 1)).leaseId);
      }
      assertThat(on.domain.regionCount()).isEqualTo(windows);
      int map = 1;
      while (on.count(Counter.WINDOWS_EVICTED) == 0) {
        on.outputs.write(1, map, random, true, 0);
        on.ask(9, Wanted.of(1, map, 0, 1));
        map++;
      }
      assertThat(on.count(Counter.WINDOWS_EVICTED)).isEqualTo(windows);
      assertThat(on.domain.regionCount()).isEqualTo(windows - IdleMemory.MAX_REGIONS);
      on.sleep(IdleMemory.PAUSE);
      assertThat(on.domain.regionCount()).isZero();
    }
  }

  /** Registers a window for each of a number of map outputs, which are idle afterwards. */
  private void leaseAndRelease(ServerFixture on, int count) throws IOException {
    for (int map = 0; map < count; map++) {
      on.outputs.write(1, map, random, true, 100);
      on.release(9, on.ask(9, Wanted.of(1, map, 0, 1)).leaseId);
    }
    assertThat(on.domain.regionCount()).isEqualTo(count);
  }

  @Test
  void shouldKeepAWindowAsLongAsItIsLeased() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20)) {
      on.outputs.write(1, 0, random, true, 100);
      on.ask(9, Wanted.of(1, 0, 0, 1));
      on.sleep(ServerFixture.IDLE.multipliedBy(3));
      assertThat(on.domain.regionCount()).isEqualTo(1);
      on.onPeerGone(9);
      on.sleep(ServerFixture.IDLE);
      assertThat(on.domain.regionCount()).isZero();
    }
  }

  @Test
  void shouldDeregisterSlotsAfterTheIdleTimeout() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.COPY, 2, 1 << 20)) {
      on.outputs.write(1, 0, random, true, 100);
      var answer = on.ask(9, Wanted.of(1, 0, 0, 1));
      on.sleep(ServerFixture.IDLE);
      on.sleep(ServerFixture.IDLE);
      assertThat(on.budget.pinnedBytes()).as("leased").isPositive();
      on.onPeerGone(9);
      on.sleep(ServerFixture.IDLE);
      on.sleep(ServerFixture.IDLE);
      assertThat(on.budget.pinnedBytes()).isZero();
      assertThat(answer.pieces).hasSize(1);
    }
  }

  @Test
  void shouldDeregisterAFewRegionsOfSlotsPerTurn() throws IOException {
    int regions = 2 * IdleMemory.MAX_REGIONS + 1;
    try (var on = withLargeSlots(regions)) {
      leaseAndReleaseSlots(on, regions);
      on.sleep(ServerFixture.IDLE);
      on.sleep(ServerFixture.IDLE);
      assertThat(on.domain.regionCount()).isEqualTo(IdleMemory.MAX_REGIONS + 1);
      assertThat(on.server.untilNextDeadlineNs()).isEqualTo(IdleMemory.PAUSE.toNanos());
      on.sleep(IdleMemory.PAUSE);
      assertThat(on.domain.regionCount()).isEqualTo(1);
      on.sleep(IdleMemory.PAUSE);
      assertThat(on.domain.regionCount()).isZero();
    }
  }

  @Test
  void shouldDeregisterAFewRegionsOfSlotsForEachReportOfAShortage() throws IOException {
    int regions = 2 * IdleMemory.MAX_REGIONS;
    try (var on = withLargeSlots(regions)) {
      leaseAndReleaseSlots(on, regions);
      on.budget.reportShortage(on.budget.limitBytes());
      on.server.doWork();
      assertThat(on.domain.regionCount()).isEqualTo(regions - IdleMemory.MAX_REGIONS);
      on.budget.reportShortage(on.budget.limitBytes());
      on.server.doWork();
      assertThat(on.domain.regionCount()).isZero();
    }
  }

  private ServerFixture withLargeSlots(int slots) {
    return ServerFixture.of(
        folder,
        new ServeSettings(
            Mode.COPY,
            ServerFixture.WINDOW,
            LARGE_SLOT,
            slots,
            ServerFixture.LEASE,
            100,
            1000,
            100,
            ServerFixture.IDLE,
            false,
            false),
        2L * slots * LARGE_SLOT,
        1000,
        EnumSet.of(Capability.FILE_REGIONS));
  }

  /** Registers regions for slots, which are idle afterwards. */
  private void leaseAndReleaseSlots(ServerFixture on, int count) throws IOException {
    on.outputs.write(1, 0, random, true, 100);
    for (int peer = 0; peer < count; peer++) {
      assertThat(on.ask(peer, Wanted.of(1, 0, 0, 1)).kinds()).containsExactly(Kind.LOCATED);
    }
    assertThat(on.domain.regionCount()).isEqualTo(count);
    for (int peer = 0; peer < count; peer++) {
      on.onPeerGone(peer);
    }
  }

  @Test
  void shouldReleaseAFewIdleWindowsWhenTheDeviceRefusesMemory() throws IOException {
    int windows = IdleMemory.MAX_REGIONS + 6;
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20)) {
      leaseAndRelease(on, windows);
      on.budget.reportShortage(3L * FakeDomain.PAGE);
      on.server.doWork();
      assertThat(on.domain.regionCount()).as("the budget has room").isEqualTo(windows);
      on.budget.reportRefusal(1);
      on.server.doWork();
      assertThat(on.domain.regionCount()).as("at least one").isEqualTo(windows - 1);
      on.budget.reportRefusal(3L * FakeDomain.PAGE);
      on.budget.reportRefusal(3L * FakeDomain.PAGE);
      on.server.doWork();
      assertThat(on.domain.regionCount()).as("as many bytes, once").isEqualTo(windows - 4);
      var leased = on.ask(9, Wanted.of(1, windows - 1, 0, 1));
      on.budget.reportRefusal(1 << 20);
      on.server.doWork();
      assertThat(on.domain.regionCount()).as("at most").isEqualTo(2);
      on.budget.reportRefusal(1 << 20);
      on.server.doWork();
      assertThat(on.domain.regionCount()).as("the leased one stays").isEqualTo(1);
      assertThat(leased.isReadable(0)).isTrue();
      assertThat(on.count(Counter.WINDOWS_EVICTED)).isEqualTo(windows - 1);
    }
  }

  @Test
  void shouldEvictAFewWindowsBeforeTheNextCommandsAndLocates() throws IOException {
    int windows = 100;
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, windows * FakeDomain.PAGE)) {
      leaseAndRelease(on, windows);
      int[] regionsThen = new int[1];
      on.budget.reportShortage(on.budget.limitBytes());
      on.server.release(9, new long[0], () -> regionsThen[0] = on.domain.regionCount());

      on.server.doWork();

      assertThat(regionsThen[0]).isEqualTo(windows - IdleMemory.MAX_REGIONS);
      assertThat(on.domain.regionCount()).as("LOCATEs follow").isEqualTo(regionsThen[0]);
      assertThat(on.server.hasWork()).isTrue();
      while (on.server.doWork() > 0) {
        // Until the memory is free.
      }
      assertThat(on.budget.availableBytes()).isEqualTo(on.budget.limitBytes());
      assertThat(on.count(Counter.WINDOWS_EVICTED)).isEqualTo(windows);
    }
  }

  @Test
  void shouldEvictNoMoreWindowsThanAShortageNeeds() throws IOException {
    int windows = 5 * IdleMemory.MAX_REGIONS;
    int needed = 2 * IdleMemory.MAX_REGIONS + 1;
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, windows * FakeDomain.PAGE)) {
      leaseAndRelease(on, windows);
      on.budget.reportShortage(needed * FakeDomain.PAGE);
      for (int turn = 1; turn <= 3; turn++) {
        on.server.doWork();
        int evicted = Math.min(turn * IdleMemory.MAX_REGIONS, needed);
        assertThat(on.domain.regionCount()).isEqualTo(windows - evicted);
      }
      assertThat(on.server.hasWork()).isFalse();
    }
  }

  @Test
  void shouldEvictNoMoreWindowsWhenTheBytesAreFreeMeanwhile() throws IOException {
    int windows = 2 * IdleMemory.MAX_REGIONS;
    int others = 2 * IdleMemory.MAX_REGIONS;
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, (windows + others) * FakeDomain.PAGE)) {
      leaseAndRelease(on, windows);
      var grant = on.budget.tryGrant(others * FakeDomain.PAGE).orElseThrow();
      on.budget.reportShortage(windows * FakeDomain.PAGE);
      on.server.doWork();
      assertThat(on.domain.regionCount()).isEqualTo(windows - IdleMemory.MAX_REGIONS);
      grant.close();
      while (on.server.doWork() > 0) {
        // Until nothing is left to do.
      }
      assertThat(on.domain.regionCount()).isEqualTo(windows - IdleMemory.MAX_REGIONS);
    }
  }

  @Test
  void shouldEvictAnIdleWindowWhenTheDeviceHasNoRoomForAnother() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20)) {
      leaseAndRelease(on, 3);
      on.outputs.write(2, 0, random, true, 100);
      on.domain.maxRegions(3);
      assertThat(on.ask(9, Wanted.of(2, 0, 0, 1)).kinds()).containsExactly(Kind.BUSY);
      on.server.doWork();
      assertThat(on.domain.regionCount()).as("one was evicted").isEqualTo(2);
      on.sleep(Duration.ofMillis(11));
      assertThat(on.ask(9, Wanted.of(2, 0, 0, 1)).read(0))
          .isEqualTo(on.outputs.expected(2, 0, 0, 1));
    }
  }

  @Test
  void shouldReleaseOnlyUnleasedMemoryForOtherUses() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 2 * ServerFixture.WINDOW)) {
      on.outputs.write(1, 0, random, true, ServerFixture.WINDOW);
      on.outputs.write(1, 1, random, true, ServerFixture.WINDOW);
      var first = on.ask(9, Wanted.of(1, 0, 0, 1));
      on.ask(9, Wanted.of(1, 1, 0, 1));
      on.budget.reportShortage(ServerFixture.WINDOW);
      on.server.doWork();
      assertThat(on.domain.regionCount()).isEqualTo(2);
      on.release(9, first.leaseId);
      on.budget.reportShortage(ServerFixture.WINDOW);
      on.server.doWork();
      assertThat(on.domain.regionCount()).isEqualTo(1);
      assertThat(on.budget.tryGrant(ServerFixture.WINDOW))
          .hasValueSatisfying(grant -> grant.close());
    }
  }
}
