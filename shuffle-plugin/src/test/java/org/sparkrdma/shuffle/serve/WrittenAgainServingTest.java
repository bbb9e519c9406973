// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.wire.Located.Kind;

/** Map outputs on a disk to which the kernel writes registered files once more. */
@Timeout(60)
class WrittenAgainServingTest {
  private static final int MIB = 1 << 20;
  private static final int WINDOW = 4 << 20;
  private static final long BUDGET = 64L << 20;
  private static final long REGISTRATION_NS = 100_000;
  private static final long COPY_NS = 20_000;

  /** Number of slots of this length. */
  private static final int SLOTS = 4;

  @TempDir private Path folder;
  private final Random random = new Random(9);

  private ServerFixture server(String release, String fileSystem) throws IOException {
    Path system = folder.resolve("system");
    write(system.resolve("proc/sys/kernel/osrelease"), release);
    write(
        system.resolve("proc/self/mountinfo"),
        "22 1 0:18 / / rw - " + fileSystem + " /dev/sda1 rw");
    return ServerFixture.pinning(
        folder, WINDOW, BUDGET, REGISTRATION_NS, COPY_NS, new SystemFiles(system));
  }

  private static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text + "\n");
  }

  @ParameterizedTest
  @CsvSource({
    "6.1.192, ext4, true",
    "6.1.192, tmpfs, false",
    "6.2.0, ext4, false",
  })
  void shouldCopyBlocksThatAreReadOnceWhereTheirWindowWouldBeWrittenAgain(
      String release, String fileSystem, boolean writtenAgain) throws IOException {
    try (ServerFixture on = server(release, fileSystem)) {
      int[] partitions = new int[60];
      Arrays.fill(partitions, 40_000);
      on.outputs.write(1, 0, random, true, partitions);
      int callsAtTheStart = on.domain.fileCalls();
      for (int block = 0; block < partitions.length; block++) {
        var answer = on.ask(9, Wanted.of(1, 0, block, block + 1));
        assertThat(answer.read(0)).isEqualTo(on.outputs.expected(1, 0, block, block + 1));
        on.release(9, answer.leaseId);
      }
      assertThat(on.domain.fileCalls() - callsAtTheStart).isEqualTo(writtenAgain ? 0 : 1);
      if (writtenAgain) {
        assertThat(on.count(Counter.PIECES_FROM_SLOTS)).isEqualTo(partitions.length);
      }
    }
  }

  @Test
  void shouldRegisterAWindowThatIsReadVeryOften() throws IOException {
    try (ServerFixture on = server("6.1.192", "ext4")) {
      on.outputs.write(1, 0, random, true, 4_000, MIB / 4);
      int callsAtTheStart = on.domain.fileCalls();
      int asked = 0;
      while (on.domain.fileCalls() == callsAtTheStart && asked < 10_000) {
        on.release(9, on.ask(9, Wanted.of(1, 0, 0, 1)).leaseId);
        asked++;
      }
      // The window costs 0.1 ms to register and 1 ms to write.
      assertThat(asked).isBetween(50, 60);
    }
  }

  @Test
  void shouldEndTheAnswerRatherThanRegisterAWindowWhenItsSlotsAreUsed() throws IOException {
    try (ServerFixture on = server("6.1.192", "ext4")) {
      on.outputs.write(1, 0, random, true, SLOTS * MIB, MIB, MIB);
      int callsAtTheStart = on.domain.fileCalls();
      var first = on.ask(9, Wanted.of(1, 0, 0, 1), Wanted.of(1, 0, 1, 2), Wanted.of(1, 0, 2, 3));
      assertThat(first.pieces).hasSize(SLOTS);
      assertThat(first.pieces).allMatch(piece -> piece.block() == 0);
      on.release(9, first.leaseId);

      var rest = on.ask(9, Wanted.of(1, 0, 1, 2), Wanted.of(1, 0, 2, 3));

      assertThat(rest.read(0)).isEqualTo(on.outputs.expected(1, 0, 1, 2));
      assertThat(rest.read(1)).isEqualTo(on.outputs.expected(1, 0, 2, 3));
      assertThat(on.domain.fileCalls()).isEqualTo(callsAtTheStart);
    }
  }

  @Test
  void shouldAnswerBusyRatherThanRegisterAWindowWhileThePeerHasTheSlots() throws IOException {
    try (ServerFixture on = server("6.1.192", "ext4")) {
      on.outputs.write(1, 0, random, true, SLOTS * MIB, MIB);
      int callsAtTheStart = on.domain.fileCalls();
      var first = on.ask(9, Wanted.of(1, 0, 0, 1));
      assertThat(on.ask(9, Wanted.of(1, 0, 1, 2)).kinds()).containsExactly(Kind.BUSY);
      on.release(9, first.leaseId);

      var answer = on.ask(9, Wanted.of(1, 0, 1, 2));

      assertThat(answer.read(0)).isEqualTo(on.outputs.expected(1, 0, 1, 2));
      assertThat(on.domain.fileCalls()).isEqualTo(callsAtTheStart);
    }
  }

  @Test
  void shouldRegisterRatherThanSendToTcpWhenOtherAnswersHaveAllSlots() throws IOException {
    try (ServerFixture on = server("6.1.192", "ext4")) {
      on.outputs.write(1, 0, random, true, SLOTS * MIB, MIB);
      int callsAtTheStart = on.domain.fileCalls();
      on.ask(8, Wanted.of(1, 0, 0, 1));

      var answer = on.ask(9, Wanted.of(1, 0, 1, 2));

      assertThat(answer.kinds()).containsExactly(Kind.LOCATED);
      assertThat(on.domain.fileCalls() - callsAtTheStart).isEqualTo(1);
    }
  }

  @Test
  void shouldRegisterAllWindowsOfAnAnswerWhenOtherAnswersHaveAllSlots() throws IOException {
    try (ServerFixture on = server("6.1.192", "ext4")) {
      on.outputs.write(1, 0, random, true, SLOTS * MIB, MIB);
      on.outputs.write(1, 1, random, true, MIB);
      on.outputs.write(1, 2, random, true, MIB);
      int callsAtTheStart = on.domain.fileCalls();
      on.ask(8, Wanted.of(1, 0, 0, 1));

      var answer = on.ask(9, Wanted.of(1, 1, 0, 1), Wanted.of(1, 2, 0, 1));

      assertThat(answer.kinds()).containsExactly(Kind.LOCATED, Kind.LOCATED);
      assertThat(on.domain.fileCalls() - callsAtTheStart).isEqualTo(2);
    }
  }
}
