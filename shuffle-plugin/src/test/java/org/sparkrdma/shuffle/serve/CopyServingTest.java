// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Located.Kind;

@Timeout(60)
class CopyServingTest {
  private static final int SLOT = ServerFixture.SLOT;
  private final Random random = new Random(4);
  @TempDir Path folder;

  @Test
  void shouldCopyThenAnswerBusyWhenFilesCannotBeRegistered() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.AUTO, 1, 1 << 20)) {
      on.outputs.write(1, 5, random, true, 100, SLOT, 300);
      on.domain.refuseFiles(true);
      var copied = on.ask(9, Wanted.of(1, 5, 0, 1));
      assertThat(copied.read(0)).isEqualTo(on.outputs.expected(1, 5, 0, 1));
      assertThat(on.count(Counter.PIECES_FROM_SLOTS)).isEqualTo(1);
      assertThat(on.ask(8, Wanted.of(1, 5, 0, 1)).kinds()).containsExactly(Kind.BUSY);
      on.release(9, copied.leaseId);
      assertThat(on.ask(8, Wanted.of(1, 5, 0, 1)).kinds()).containsExactly(Kind.LOCATED);
    }
  }

  @Test
  void shouldCopyWhenTheBudgetIsFullOfLeases() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.AUTO, 1, FakeDomain.PAGE + SLOT)) {
      on.outputs.write(1, 0, random, true, 4000);
      on.outputs.write(1, 1, random, true, SLOT + 1);
      on.ask(9, Wanted.of(1, 0, 0, 1));
      var copied = on.ask(9, Wanted.of(1, 1, 0, 1));
      assertThat(copied.pieces).hasSize(1);
      assertThat(copied.pieces.get(0).lengthBytes()).isEqualTo(SLOT);
      assertThat(on.count(Counter.PIECES_FROM_SLOTS)).isEqualTo(1);
    }
  }

  @Test
  void shouldNeverCopyInWindowModeNorRegisterFilesInCopyMode() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 4, 1 << 20)) {
      on.outputs.write(1, 0, random, true, 4000);
      on.domain.refuseFiles(true);
      assertThat(on.ask(9, Wanted.of(1, 0, 0, 1)).kinds()).containsExactly(Kind.BUSY);
      assertThat(on.domain.regionCount()).isZero();
    }
    try (var on = ServerFixture.of(folder, Mode.COPY, 4, 1 << 20)) {
      on.outputs.write(1, 0, random, true, 4000);
      assertThat(on.ask(9, Wanted.of(1, 0, 0, 1)).kinds()).containsExactly(Kind.LOCATED);
      assertThat(on.domain.fileCalls()).isZero();
    }
  }

  @Test
  void shouldCopyWhenTheDeviceCannotRegisterFiles() throws IOException {
    var settings =
        new ServeSettings(
            Mode.AUTO,
            ServerFixture.WINDOW,
            SLOT,
            4,
            ServerFixture.LEASE,
            10,
            1000,
            100,
            ServerFixture.IDLE,
            false,
            false);
    try (var on = ServerFixture.of(folder, settings, 1 << 20, 10, Set.of())) {
      on.outputs.write(1, 0, random, true, 4000);
      assertThat(on.ask(9, Wanted.of(1, 0, 0, 1)).kinds()).containsExactly(Kind.LOCATED);
      assertThat(on.domain.fileCalls()).isZero();
    }
  }

  @Test
  void shouldPackOnlyTheBlocksOfOneAnswer() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.COPY, 2, 1 << 20)) {
      on.outputs.write(1, 0, random, true, 100, 200);
      on.outputs.write(1, 1, random, true, 300);
      var first = on.ask(9, Wanted.of(1, 0, 0, 1), Wanted.of(1, 1, 0, 1), Wanted.of(1, 0, 1, 2));
      assertThat(first.pieces.get(1).address()).isEqualTo(first.pieces.get(0).address() + 100);
      assertThat(first.pieces.get(2).address()).isEqualTo(first.pieces.get(0).address() + 400);
      assertThat(first.read(1)).isEqualTo(on.outputs.expected(1, 1, 0, 1));
      assertThat(first.read(2)).isEqualTo(on.outputs.expected(1, 0, 1, 2));
      var second = on.ask(9, Wanted.of(1, 0, 0, 1));
      assertThat(second.kinds()).containsExactly(Kind.LOCATED);
      assertThat(on.ask(9, Wanted.of(1, 0, 0, 1)).kinds()).containsExactly(Kind.BUSY);
    }
  }

  @Test
  void shouldAlwaysCopyFromAFileSystemThatRefusedRegistration() throws IOException {
    try (var on = ServerFixture.onRefusingFileSystem(folder, 4, 4 * SLOT)) {
      on.domain.refuseFiles(false);
      int calls = on.domain.fileCalls();
      on.outputs.write(1, 0, random, true, SLOT);
      var answer = on.ask(9, Wanted.of(1, 0, 0, 1));
      on.sleep(ServerFixture.LEASE);

      assertThat(answer.read(0)).isEqualTo(on.outputs.expected(1, 0, 0, 1));
      assertThat(on.count(Counter.PIECES_FROM_WINDOWS)).isZero();
      assertThat(on.domain.fileCalls()).isEqualTo(calls);
    }
  }

  @Test
  void shouldDeregisterIdleWindowsForSlotsAndIdleSlotsForWindows() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.AUTO, 1, SLOT)) {
      on.outputs.write(1, 0, random, true, SLOT);
      on.outputs.write(1, 1, random, true, SLOT);
      var window = on.ask(9, Wanted.of(1, 0, 0, 1));
      on.release(9, window.leaseId);
      on.domain.refuseFiles(true);
      var slot = on.ask(9, Wanted.of(1, 1, 0, 1));
      assertThat(slot.read(0)).isEqualTo(on.outputs.expected(1, 1, 0, 1));
      assertThat(window.isReadable(0)).isFalse();

      on.release(9, slot.leaseId);
      on.domain.refuseFiles(false);
      on.sleep(ServerFixture.LEASE);
      assertThat(on.ask(9, Wanted.of(1, 0, 0, 1)).kinds()).containsExactly(Kind.LOCATED);
      assertThat(on.count(Counter.PIECES_FROM_WINDOWS)).isEqualTo(2);
      assertThat(slot.isReadable(0)).isFalse();
    }
  }

  @Test
  void shouldDeregisterAnIdleWindowForASlotWithoutTryingToRegister() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.AUTO, 1, SLOT)) {
      on.outputs.write(1, 0, random, true, SLOT);
      on.outputs.write(1, 1, random, true, SLOT);
      on.domain.refuseFiles(true);
      on.release(9, on.ask(9, Wanted.of(1, 1, 0, 1)).leaseId);
      on.domain.refuseFiles(false);
      var window = on.ask(9, Wanted.of(1, 0, 0, 1));
      on.release(9, window.leaseId);
      assertThat(window.isReadable(0)).isTrue();

      assertThat(on.ask(9, Wanted.of(1, 1, 0, 1)).kinds()).containsExactly(Kind.LOCATED);
      assertThat(window.isReadable(0)).isFalse();
      assertThat(on.domain.fileCalls()).isEqualTo(2);
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void shouldKeepNoFileOpenAfterTheAnswer() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.COPY, 4, 1 << 20)) {
      on.outputs.write(1, 0, random, true, 4000);
      on.outputs.write(1, 1, random, true, 4000);
      on.ask(9, Wanted.of(1, 0, 0, 1), Wanted.of(1, 1, 0, 1));
      try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
        assertThat(open.filter(this::isOfAMapOutput)).isEmpty();
      }
    }
  }

  private boolean isOfAMapOutput(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).startsWith(folder);
    } catch (IOException e) {
      return false; // closed in the meantime, like the descriptor that lists them
    }
  }

  @Test
  void shouldAnswerUnknownForABlockWhoseFileIsTruncatedOrMissing() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.AUTO, 4, 1 << 20)) {
      on.outputs.write(1, 0, random, true, 100, 4000);
      on.outputs.write(1, 1, random, true, 100);
      on.ask(9, Wanted.of(1, 0, 0, 1), Wanted.of(1, 1, 0, 1));
      on.outputs.write(2, 0, random, true, 4000, 4000);
      on.outputs.write(2, 1, random, true, 100);
      try (var file = Files.newByteChannel(on.outputs.get(2, 0).dataFile(), WRITE)) {
        file.truncate(4100);
      }
      Files.delete(on.outputs.get(2, 1).dataFile());
      var answer = on.ask(9, Wanted.of(2, 0, 0, 1), Wanted.of(2, 0, 1, 2), Wanted.of(2, 1, 0, 1));
      assertThat(answer.kinds()).containsExactly(Kind.LOCATED, Kind.UNKNOWN, Kind.UNKNOWN);
      assertThat(answer.read(0)).isEqualTo(on.outputs.expected(2, 0, 0, 1));
    }
  }

  @Test
  void shouldLeaveTheReserveOfTheBudgetToOthers() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.COPY, 4, 4L * SLOT)) {
      on.budget.reserve(2L * SLOT);
      on.outputs.write(1, 0, random, true, 4000, 4000, 4000);
      var first = on.ask(7, Wanted.of(1, 0, 0, 1));
      assertThat(first.kinds()).containsExactly(Kind.LOCATED);
      assertThat(on.ask(8, Wanted.of(1, 0, 1, 2)).kinds()).containsExactly(Kind.LOCATED);
      assertThat(on.ask(9, Wanted.of(1, 0, 2, 3)).kinds()).containsExactly(Kind.BUSY);
      on.release(7, first.leaseId);
      assertThat(on.ask(9, Wanted.of(1, 0, 2, 3)).kinds()).containsExactly(Kind.LOCATED);
    }
  }

  @Test
  void shouldAnswerBusyWhenThereIsNoMemoryForSlots() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.COPY, 4, 1 << 20)) {
      on.outputs.write(1, 0, random, true, 4000);
      on.device.refuseMemory();
      assertThat(on.ask(9, Wanted.of(1, 0, 0, 1)).kinds()).containsExactly(Kind.BUSY);
      assertThat(on.budget.pinnedBytes()).isZero();
    }
  }

  @Test
  void shouldKeepAnExpiredSlotUntilItsPeerIsGone() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.COPY, 1, 1 << 20)) {
      on.outputs.write(1, 0, random, true, 4000);
      on.outputs.write(1, 1, random, true, 4000);
      var answer = on.ask(9, Wanted.of(1, 0, 0, 1));
      on.sleep(ServerFixture.LEASE);
      assertThat(on.ask(8, List.of(), List.of(Wanted.of(1, 1, 0, 1))).kinds())
          .containsExactly(Kind.BUSY);
      assertThat(answer.read(0)).isEqualTo(on.outputs.expected(1, 0, 0, 1));
      on.onPeerGone(9);
      assertThat(on.ask(8, Wanted.of(1, 1, 0, 1)).kinds()).containsExactly(Kind.LOCATED);
    }
  }
}
