// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Located.Kind;
import org.sparkrdma.verbs.device.Capability;

/** Windows within the limits of the budget and of the device. */
@Timeout(60)
class WindowLimitsTest {
  private static final int WINDOW = ServerFixture.WINDOW;
  private final Random random = new Random(1);
  @TempDir Path folder;

  @Test
  void shouldEvictTheWindowWhoseLastLeaseEndedFirst() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 3 * FakeDomain.PAGE)) {
      for (int map = 0; map < 5; map++) {
        on.outputs.write(1, map, random, true, 4000);
      }
      var a = on.ask(9, Wanted.of(1, 0, 0, 1));
      var b = on.ask(9, Wanted.of(1, 1, 0, 1));
      var c = on.ask(9, Wanted.of(1, 2, 0, 1));
      on.release(9, b.leaseId, c.leaseId, a.leaseId);
      var again = on.ask(9, Wanted.of(1, 1, 0, 1));
      on.release(9, again.leaseId);

      on.ask(9, Wanted.of(1, 3, 0, 1));
      on.ask(9, Wanted.of(1, 4, 0, 1));
      assertThat(on.domain.deregistered())
          .containsExactly(c.pieces.get(0).address(), a.pieces.get(0).address());
      assertThat(again.isReadable(0)).isTrue();
      assertThat(on.count(Counter.WINDOWS_EVICTED)).isEqualTo(2);
    }
  }

  @Test
  void shouldAnswerBusyInsteadOfEvictingLeasedWindows() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, FakeDomain.PAGE)) {
      on.outputs.write(1, 0, random, true, 4000);
      on.outputs.write(1, 1, random, true, 4000);
      var first = on.ask(9, Wanted.of(1, 0, 0, 1));
      var shared = on.ask(8, Wanted.of(1, 0, 0, 1));
      on.release(9, first.leaseId);
      assertThat(on.ask(7, Wanted.of(1, 1, 0, 1)).kinds()).containsExactly(Kind.BUSY);
      assertThat(shared.isReadable(0)).isTrue();

      on.release(8, shared.leaseId);
      assertThat(on.ask(7, Wanted.of(1, 1, 0, 1)).kinds()).containsExactly(Kind.LOCATED);
      assertThat(on.count(Counter.BLOCKS_SENT_TO_TCP)).isEqualTo(1);
    }
  }

  @Test
  void shouldEndTheAnswerWhenItsOwnLeasesFillTheBudget() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 2 * FakeDomain.PAGE)) {
      for (int map = 0; map < 3; map++) {
        on.outputs.write(1, map, random, true, 4000);
      }
      var blocks = List.of(Wanted.of(1, 0, 0, 1), Wanted.of(1, 1, 0, 1), Wanted.of(1, 2, 0, 1));
      var answer = on.ask(9, List.of(), blocks);
      assertThat(answer.kinds()).containsExactly(Kind.LOCATED, Kind.LOCATED);
      var rest = on.ask(9, List.of(answer.leaseId), blocks.subList(2, 3));
      assertThat(rest.kinds()).containsExactly(Kind.LOCATED);
    }
  }

  @Test
  void shouldEvictNothingWhenEvictionCannotMakeRoom() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 4 * FakeDomain.PAGE)) {
      on.outputs.write(1, 0, random, true, 4000);
      on.outputs.write(1, 1, random, true, 12_000);
      on.release(9, on.ask(9, Wanted.of(1, 0, 0, 1)).leaseId);
      try (var others = on.budget.tryGrant(2 * FakeDomain.PAGE).orElseThrow()) {
        assertThat(on.ask(9, Wanted.of(1, 1, 0, 1)).kinds()).containsExactly(Kind.BUSY);
        assertThat(others.heldBytes()).isEqualTo(2 * FakeDomain.PAGE);
      }
      assertThat(on.domain.deregistered()).isEmpty();
    }
  }

  @Test
  void shouldKeepAtMostHalfOfTheDevicesRegionsAsWindows() throws IOException {
    var settings = WindowServingTest.settings(Mode.WINDOW, 100);
    var can = EnumSet.of(Capability.FILE_REGIONS);
    try (var on = ServerFixture.of(folder, settings, 1 << 20, 6, can)) {
      for (int map = 0; map < 10; map++) {
        on.outputs.write(1, map, random, true, 4000);
        on.release(9, on.ask(9, Wanted.of(1, map, 0, 1)).leaseId);
        assertThat(on.domain.regionCount()).isLessThanOrEqualTo(3);
      }
    }
  }

  @Test
  void shouldLeaveTheReserveOfTheBudgetToOthersWhileWindowsAreLeased() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 4L * WINDOW)) {
      on.budget.reserve(WINDOW);
      on.outputs.write(1, 5, random, true, WINDOW, WINDOW, WINDOW, WINDOW);
      List<Long> leases = new ArrayList<>();
      for (int peer = 0; peer < 3; peer++) {
        var answer = on.ask(peer, Wanted.of(1, 5, peer, peer + 1));
        assertThat(answer.kinds()).containsExactly(Kind.LOCATED);
        leases.add(answer.leaseId);
      }
      assertThat(on.ask(3, Wanted.of(1, 5, 3, 4)).kinds()).containsExactly(Kind.BUSY);
      assertThat(on.ask(3, Wanted.of(1, 5, 0, 1)).kinds())
          .as("a window that is leased already")
          .containsExactly(Kind.LOCATED);
      assertThat(on.budget.availableBytes()).isEqualTo(WINDOW);
      on.release(1, leases.get(1));
      assertThat(on.ask(3, Wanted.of(1, 5, 3, 4)).kinds()).containsExactly(Kind.LOCATED);
    }
  }

  @Test
  void shouldLetIdleWindowsUseTheReserveOfTheBudget() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 4L * WINDOW)) {
      on.budget.reserve(2L * WINDOW);
      on.outputs.write(1, 5, random, true, WINDOW, WINDOW, WINDOW, WINDOW);
      for (int i = 0; i < 4; i++) {
        on.release(9, on.ask(9, Wanted.of(1, 5, i, i + 1)).leaseId);
      }
      assertThat(on.budget.availableBytes()).isZero();
    }
  }

  @Test
  void shouldLeaseOneWindowWhateverTheReserve() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 2L * WINDOW)) {
      on.budget.reserve(2L * WINDOW);
      on.outputs.write(1, 5, random, true, WINDOW);
      assertThat(on.ask(9, Wanted.of(1, 5, 0, 1)).kinds()).containsExactly(Kind.LOCATED);
    }
  }
}
