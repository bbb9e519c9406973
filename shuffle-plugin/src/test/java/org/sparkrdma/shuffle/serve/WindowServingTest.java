// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Located.Kind;
import org.sparkrdma.verbs.device.Capability;

@Timeout(60)
class WindowServingTest {
  private static final int WINDOW = ServerFixture.WINDOW;
  private final Random random = new Random(1);
  @TempDir Path folder;

  @Test
  void shouldLetPeersReadABlockFromItsWindow() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, WINDOW)) {
      on.outputs.write(1, 5, random, true, 100, 2000, 300);
      var answer = on.ask(9, Wanted.of(1, 5, 1, 2));
      assertThat(answer.kinds()).containsExactly(Kind.LOCATED);
      assertThat(answer.read(0)).isEqualTo(on.outputs.expected(1, 5, 1, 2));
      assertThat(answer.leaseId).isNotZero();
      assertThat(answer.remainingMs).isEqualTo(10_000);
      assertThat(on.count(Counter.LOCATES_SERVED)).isEqualTo(1);
      assertThat(on.count(Counter.PIECES_FROM_WINDOWS)).isEqualTo(1);
      assertThat(on.count(Counter.WINDOWS_REGISTERED)).isEqualTo(1);
    }
  }

  @Test
  void shouldRegisterAndReadTheIndexOnceForManyBlocks() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, WINDOW)) {
      on.outputs.write(1, 5, random, true, 100, 2000, 300);
      for (int i = 0; i < 10; i++) {
        var answer = on.ask(9, Wanted.of(1, 5, 0, 1), Wanted.of(1, 5, 1, 2), Wanted.of(1, 5, 2, 3));
        assertThat(answer.kinds()).containsOnly(Kind.LOCATED).hasSize(3);
        on.release(9, answer.leaseId);
      }
      assertThat(on.domain.fileCalls()).isEqualTo(1);
      assertThat(on.outputs.opened()).isEqualTo(1);
    }
  }

  @Test
  void shouldGiveNeighbouringBlocksNeighbouringAddresses() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, WINDOW)) {
      on.outputs.write(1, 5, random, true, 100, 0, 300);
      var pieces = on.ask(9, Wanted.of(1, 5, 0, 1), Wanted.of(1, 5, 2, 3)).pieces;
      assertThat(pieces.get(1).address()).isEqualTo(pieces.get(0).address() + 100);
      assertThat(pieces.get(1).key()).isEqualTo(pieces.get(0).key());
    }
  }

  @Test
  void shouldDistinguishMapOutputsOfTheSameMapId() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, WINDOW)) {
      on.outputs.write(1, 5, random, true, 100);
      on.outputs.write(2, 5, random, true, 200);
      var answer = on.ask(9, Wanted.of(1, 5, 0, 1), Wanted.of(2, 5, 0, 1));
      assertThat(answer.read(0)).isEqualTo(on.outputs.expected(1, 5, 0, 1));
      assertThat(answer.read(1)).isEqualTo(on.outputs.expected(2, 5, 0, 1));
    }
  }

  @Test
  void shouldLeaseNothingForEmptyBlocks() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, WINDOW)) {
      on.outputs.write(1, 5, random, true, 0, 0, 0);
      on.outputs.write(1, 6, random, true, 0, 10, 0);
      var answer = on.ask(9, Wanted.of(1, 5, 0, 3), Wanted.of(1, 6, 2, 3));
      assertThat(answer.kinds()).containsExactly(Kind.LOCATED, Kind.LOCATED);
      assertThat(answer.pieces)
          .allMatch(p -> p.lengthBytes() == 0 && p.blockBytes() == 0 && p.address() == 0);
      assertThat(answer.leaseId).isZero();
      assertThat(on.domain.fileCalls()).isZero();
    }
  }

  @Test
  void shouldAnswerUnknownForBlocksThatDoNotExist() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, WINDOW)) {
      on.outputs.write(1, 5, random, true, 100, 0);
      var answer =
          on.ask(
              9,
              Wanted.of(1, 6, 0, 1),
              Wanted.of(2, 5, 0, 1),
              Wanted.of(1, 5, 1, 3),
              Wanted.of(1, 5, 0, 1).rest(100),
              Wanted.of(1, 5, 1, 2).rest(1),
              Wanted.of(1, 5, 0, 1));
      assertThat(answer.kinds())
          .containsExactly(
              Kind.UNKNOWN, Kind.UNKNOWN, Kind.UNKNOWN, Kind.UNKNOWN, Kind.UNKNOWN, Kind.LOCATED);
      assertThat(on.count(Counter.BLOCKS_SENT_TO_TCP)).isEqualTo(5);
    }
  }

  @Test
  void shouldPinNothingWithOnDemandPaging() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.ODP, 4, FakeDomain.PAGE)) {
      on.outputs.write(1, 5, random, true, 3 * WINDOW);
      var answer = on.ask(9, Wanted.of(1, 5, 0, 1));
      assertThat(answer.kinds()).containsOnly(Kind.LOCATED);
      assertThat(answer.isReadable(0)).isTrue();
      assertThat(on.domain.regionCount()).isEqualTo(3);
      assertThat(on.budget.pinnedBytes()).isZero();
      on.release(9, answer.leaseId);
      on.sleep(ServerFixture.IDLE);
      assertThat(on.domain.regionCount())
          .as("idle windows are deregistered like pinned ones")
          .isZero();
    }
  }

  /** Else READs would wait for the disk, which is no fault of the peer. */
  @Test
  void shouldReadWindowsThatAreNotPinnedBeforeItAnswers() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.ODP, 4, FakeDomain.PAGE)) {
      on.outputs.write(1, 5, random, true, 2 * WINDOW, 100);
      on.ask(9, Wanted.of(1, 5, 0, 2));
      assertThat(on.outputs.loaded())
          .containsExactly("0+" + WINDOW, WINDOW + "+" + WINDOW, 2 * WINDOW + "+100");
      on.ask(9, Wanted.of(1, 5, 0, 2));
      assertThat(on.outputs.loaded()).as("once").hasSize(3);
    }
  }

  @Test
  void shouldNotReadWindowsThatAreNotPinnedWhenTheirRegistrationDoesSo() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, WINDOW)) {
      on.outputs.write(1, 5, random, true, 100);
      on.ask(9, Wanted.of(1, 5, 0, 1));
      assertThat(on.outputs.loaded()).isEmpty();
    }
  }

  @Test
  void shouldNameTheDiskWhenItReadsWindowsThatAreNotPinnedSlowly() throws IOException {
    int twoPieces = Located.HEADER_BYTES + 2 * (Located.PIECE_BYTES + Located.SUM_BYTES);
    for (boolean isSlow : new boolean[] {true, false}) {
      try (var on = ServerFixture.of(folder, Mode.ODP, 4, FakeDomain.PAGE, twoPieces)) {
        on.outputs.onLoad(() -> on.pass(Duration.ofMillis(isSlow ? 60 : 20)));
        on.outputs.write(1, 5, random, true, 3 * WINDOW);
        var answer = on.ask(9, Wanted.of(1, 5, 0, 1));
        assertThat(answer.kinds()).containsExactly(Kind.LOCATED, Kind.LOCATED);
        assertThat(answer.heldBack).isEqualTo(isSlow);
      }
    }
  }

  @Test
  void shouldCopyWhenAWindowThatIsNotPinnedCannotBeRead() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.ODP, 4, 1 << 20)) {
      on.outputs.onLoad(
          () -> {
            throw new IOException("thrown by the test");
          });
      on.outputs.write(1, 5, random, true, 100);
      var answer = on.ask(9, Wanted.of(1, 5, 0, 1));
      assertThat(answer.kinds()).containsExactly(Kind.LOCATED);
      assertThat(answer.read(0)).isEqualTo(on.outputs.expected(1, 5, 0, 1));
      assertThat(on.domain.fileCalls()).isZero();
    }
  }

  @Test
  void shouldPinWindowsWithoutOnDemandPaging() throws IOException {
    var can = EnumSet.of(Capability.FILE_REGIONS);
    try (var on = ServerFixture.of(folder, settings(Mode.ODP, 10), 1 << 20, 100, can)) {
      on.outputs.write(1, 5, random, true, 2000);
      assertThat(on.ask(9, Wanted.of(1, 5, 0, 1)).kinds()).containsExactly(Kind.LOCATED);
      assertThat(on.budget.pinnedBytes()).isEqualTo(FakeDomain.PAGE);
    }
  }

  @Test
  void shouldDropTheLeastRecentlyUsedIndexWithItsWindows() throws IOException {
    var can = EnumSet.of(Capability.FILE_REGIONS);
    try (var on = ServerFixture.of(folder, settings(Mode.WINDOW, 2), 1 << 20, 100, can)) {
      for (int map = 0; map < 3; map++) {
        on.outputs.write(1, map, random, true, 4000);
      }
      var leased = on.ask(9, Wanted.of(1, 0, 0, 1));
      var idle = on.ask(9, Wanted.of(1, 1, 0, 1));
      on.release(9, idle.leaseId);
      on.ask(9, Wanted.of(1, 2, 0, 1));
      assertThat(idle.isReadable(0)).isFalse();
      assertThat(leased.isReadable(0)).isTrue();
      on.ask(9, Wanted.of(1, 0, 0, 1));
      assertThat(on.outputs.opened()).isEqualTo(3);
      assertThat(on.count(Counter.WINDOWS_EVICTED)).isEqualTo(1);
    }
  }

  @Test
  void shouldBoundTheCachedPartitions() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20)) {
      int half = ServedOutputs.MAX_PARTITIONS / 2;
      for (int map = 0; map < 3; map++) {
        on.outputs.add(1, map, new MapOutput(folder, new long[half + 1], null));
      }
      for (int map : new int[] {0, 1, 0, 2, 0, 1}) {
        assertThat(on.ask(9, Wanted.of(1, map, 0, half)).kinds()).containsExactly(Kind.LOCATED);
      }
      assertThat(on.outputs.opened()).as("0 and 1, 2 for 1, 1 for 2").isEqualTo(4);
      on.server.unregisterShuffle(1, () -> {});
      on.ask(9, Wanted.of(1, 0, 0, half), Wanted.of(1, 1, 0, half), Wanted.of(1, 0, 0, half));
      assertThat(on.outputs.opened()).isEqualTo(6);
    }
  }

  @Test
  void shouldNotReportAShuffleUnregisteredWhileOneOfTwoWindowsIsLeased() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 2 * WINDOW)) {
      on.outputs.write(1, 0, random, true, WINDOW, 10);
      var first = on.ask(9, Wanted.of(1, 0, 0, 1));
      var second = on.ask(9, Wanted.of(1, 0, 1, 2));
      int[] done = new int[1];
      on.server.unregisterShuffle(1, () -> done[0]++);
      on.release(9, first.leaseId);
      assertThat(first.isReadable(0)).isFalse();
      assertThat(second.isReadable(0)).isTrue();
      assertThat(done[0]).isZero();
      on.release(9, second.leaseId);
      assertThat(done[0]).isEqualTo(1);
    }
  }

  @Test
  void shouldNotRegisterAFileAgainForASecondAfterAFailure() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20)) {
      on.outputs.write(1, 5, random, true, 100, 2000, 300);
      on.domain.refuseFiles(true);
      var blocks = new Wanted[] {Wanted.of(1, 5, 0, 1), Wanted.of(1, 5, 1, 2)};
      assertThat(on.ask(9, blocks).kinds()).containsExactly(Kind.BUSY, Kind.BUSY);
      on.domain.refuseFiles(false);
      on.sleep(Duration.ofMillis(999));
      assertThat(on.ask(9, blocks).kinds()).containsOnly(Kind.BUSY);
      assertThat(on.domain.fileCalls()).isEqualTo(1);
      on.sleep(Duration.ofMillis(1));
      assertThat(on.ask(9, blocks).kinds()).containsOnly(Kind.LOCATED);
    }
  }

  @Test
  void shouldAnswerBusyWhenTheDeviceCannotRegisterFiles() throws IOException {
    try (var on = ServerFixture.of(folder, settings(Mode.WINDOW, 10), 1 << 20, 9, Set.of())) {
      on.outputs.write(1, 5, random, true, 100);
      assertThat(on.ask(9, Wanted.of(1, 5, 0, 1)).kinds()).containsExactly(Kind.BUSY);
      assertThat(on.domain.fileCalls()).isZero();
    }
  }

  @Test
  void shouldSendTheBlocksOfADiskToTcpAfterAnUnexpectedException() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.AUTO, 4, 1 << 20)) {
      on.outputs.write(1, 5, random, true, 100);
      on.outputs.write(1, 6, random, true, 100);
      on.release(9, on.ask(9, Wanted.of(1, 5, 0, 1)).leaseId);
      on.domain.breakDown();
      var answer = on.ask(9, Wanted.of(1, 5, 0, 1), Wanted.of(1, 6, 0, 1));
      assertThat(answer.kinds()).containsExactly(Kind.LOCATED, Kind.BUSY);
      assertThat(answer.isReadable(0)).isTrue();
      on.release(9, answer.leaseId);
    }
  }

  static ServeSettings settings(Mode mode, int indexCacheEntries) {
    return new ServeSettings(
        mode,
        WINDOW,
        ServerFixture.SLOT,
        0,
        ServerFixture.LEASE,
        indexCacheEntries,
        1000,
        100,
        ServerFixture.IDLE,
        false,
        false);
  }
}
