// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.verbs.device.Transport;

@Timeout(60)
class CopyOrRegisterPolicyTest {
  private static final int WINDOW = 4 << 20;
  private static final long BUDGET = 64L << 20;
  @TempDir Path folder;
  private final Random random = new Random(8);

  @Test
  void shouldRegisterAWindowWhenCopiesHaveCostAsMuch() throws IOException {
    try (var on = ServerFixture.copyingFirst(folder, WINDOW, BUDGET)) {
      on.outputs.write(1, 0, random, true, random.ints(60, 4_000, 4_001).toArray());
      int asked = 0;
      while (on.domain.fileCalls() == 0) {
        var answer = on.ask(9, Wanted.of(1, 0, asked, asked + 1));
        assertThat(answer.read(0)).isEqualTo(on.outputs.expected(1, 0, asked, asked + 1));
        on.release(9, answer.leaseId);
        asked++;
      }
      assertThat(asked).isBetween(3, 6);
      assertThat(on.count(Counter.PIECES_FROM_SLOTS)).isEqualTo(asked - 1);
      on.ask(9, Wanted.of(1, 0, 50, 51));
      assertThat(on.count(Counter.PIECES_FROM_WINDOWS)).isEqualTo(2);
    }
  }

  /**
   * With the assumed costs the window is registered for the fourth block, see {@link
   * ServingCosts#assumed}.
   */
  @ParameterizedTest(name = "a registration takes {0} us and a copy {1} us")
  @CsvSource({
    "1000, 20, 17",
    "200, 20, 9",
    "100, 20, 4",
    "20, 20, 0",
    "5, 20, 0",
    "5, 200, 0",
  })
  void shouldDecideByTheCostsMeasuredAtTheStart(long registrationUs, long copyUs, int copies)
      throws IOException {
    try (var on =
        ServerFixture.measuring(folder, WINDOW, BUDGET, registrationUs * 1_000, copyUs * 1_000)) {
      on.outputs.write(1, 0, random, true, random.ints(60, 4_000, 4_001).toArray());
      int callsAtTheStart = on.domain.fileCalls();
      int asked = 0;
      while (on.domain.fileCalls() == callsAtTheStart) {
        var answer = on.ask(9, Wanted.of(1, 0, asked, asked + 1));
        assertThat(answer.read(0)).isEqualTo(on.outputs.expected(1, 0, asked, asked + 1));
        on.release(9, answer.leaseId);
        asked++;
      }
      assertThat(on.count(Counter.PIECES_FROM_SLOTS)).isEqualTo(copies);
      assertThat(on.count(Counter.PIECES_FROM_WINDOWS)).isEqualTo(1);
    }
  }

  @Test
  void shouldRegisterAtOnceWhenLargePiecesAreRequested() throws IOException {
    try (var on = ServerFixture.copyingFirst(folder, WINDOW, BUDGET)) {
      on.outputs.write(1, 0, random, true, 3 << 20, 1_000);
      on.ask(9, Wanted.of(1, 0, 0, 1));
      assertThat(on.count(Counter.PIECES_FROM_WINDOWS)).isEqualTo(1);
      on.ask(9, Wanted.of(1, 0, 1, 2));
      assertThat(on.count(Counter.PIECES_FROM_WINDOWS)).as("it is registered").isEqualTo(2);
      assertThat(on.count(Counter.PIECES_FROM_SLOTS)).isZero();
    }
  }

  @Test
  void shouldRegisterWhenNoSlotIsFree() throws IOException {
    try (var on = ServerFixture.copyingFirst(folder, WINDOW, BUDGET)) {
      for (int map = 0; map < 6; map++) {
        on.outputs.write(1, map, random, true, 1_000);
        on.ask(9, Wanted.of(1, map, 0, 1));
      }
      assertThat(on.count(Counter.PIECES_FROM_SLOTS)).isEqualTo(4);
      assertThat(on.count(Counter.PIECES_FROM_WINDOWS)).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "LOOPBACK, 16777216, 500000, true",
    "LOOPBACK, 16777216, 700000, false",
    "LOOPBACK, 4096, 4096, true",
    "INFINIBAND, 16777216, 700000, true",
    "INFINIBAND, 16777216, 12000000, true",
    "INFINIBAND, 16777216, 16777216, false",
    "INFINIBAND, 1048576, 1048576, true",
  })
  void shouldCountPagesOfARegistrationOnlyForHardware(
      Transport transport, long windowBytes, long askedBytes, boolean copies) {
    ServedOutput output =
        new ServedOutput(
            1, 0, new MapOutput(folder, new long[] {0, windowBytes}, null), 0, 16 << 20);
    CopyOrRegisterPolicy policy =
        new CopyOrRegisterPolicy(ServingCosts.assumed(transport), List.of());
    assertThat(policy.shouldCopy(output, 0, windowBytes, askedBytes)).isEqualTo(copies);
  }

  /** A window of 16 MiB costs 0.7 ms to register and 64 ms to write. */
  @ParameterizedTest(name = "blocks of {0} bytes")
  @CsvSource({"4096, 1", "16384, 4", "1048576, 50"})
  void shouldNotRegisterAWindowThatIsWrittenAgainBeforeItsBlocksWereReadSoOften(
      int blockBytes, double times) {
    int windowBytes = 16 << 20;
    ServedOutput output = output(windowBytes);
    CopyOrRegisterPolicy policy =
        new CopyOrRegisterPolicy(ServingCosts.assumed(Transport.INFINIBAND), List.of(folder));
    long copiedBytes = 0;
    while (policy.shouldCopy(output, 0, windowBytes, blockBytes)) {
      policy.copied(output, 0, blockBytes);
      copiedBytes += blockBytes;
    }
    assertThat((double) copiedBytes / windowBytes).isBetween(times, 3 * times);
  }

  @Test
  void shouldCountTheWriteOnlyInTheDirectoriesThatAreWrittenAgain() {
    ServedOutput output = output(1 << 20);
    ServingCosts costs = ServingCosts.assumed(Transport.INFINIBAND);
    var elsewhere = new CopyOrRegisterPolicy(costs, List.of(folder.resolve("other")));
    var here = new CopyOrRegisterPolicy(costs, List.of(folder.resolve("other"), folder));

    elsewhere.copied(output, 0, 1 << 20);

    assertThat(elsewhere.shouldCopy(output, 0, 1 << 20, 1 << 20)).isFalse();
    assertThat(here.shouldCopy(output, 0, 1 << 20, 1 << 20)).isTrue();
  }

  private ServedOutput output(int windowBytes) {
    MapOutput mapOutput =
        new MapOutput(folder.resolve("shuffle_1_0_0.data"), new long[] {0, windowBytes}, null);
    return new ServedOutput(1, 0, mapOutput, 0, windowBytes);
  }
}
