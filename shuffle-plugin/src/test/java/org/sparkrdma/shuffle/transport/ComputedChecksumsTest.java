// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;

/** Blocks without a recorded checksum, or with a wrong one: the server computes checksums. */
@Timeout(120)
class ComputedChecksumsTest extends TransportFixture {
  private static final int MIB = 1 << 20;

  @ParameterizedTest
  @EnumSource(ServeSettings.Mode.class)
  void shouldVerifyBlocksWithoutRecordedSumsWhereverTheirExtentsEnd(ServeSettings.Mode mode)
      throws Exception {
    TestExecutor reader =
        start(
            new TestExecutor.Options(1)
                .pinned(64L * MIB, 16L * MIB)
                .requestTimeout(Duration.ofSeconds(20)));
    TestExecutor server = start(new TestExecutor.Options(2).mode(mode));
    int[] partitions = {
      1, MIB - 1, MIB, MIB + 1, 0, 3 * MIB + 77, 200, 300_000, 2 * MIB, 5 * MIB + 3
    };
    server.outputs().write(0, random, partitions);
    server.outputs().forgetSums(0);
    List<BlockRange> blocks = new ArrayList<>();
    for (int from = 0; from < partitions.length; from++) {
      for (int to = from + 1; to <= partitions.length; to += 3) {
        blocks.add(new BlockRange(0, 0, from, to));
      }
    }
    for (BlockRange block : blocks) {
      // One at a time: the server has copies for each.
      assertThat(fetch(reader, server, List.of(block)).bytes(0))
          .isEqualTo(server.outputs().expected(block));
    }
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(blocks.size());
    assertThat(reader.count(Counter.BLOCKS_UNVERIFIED)).isZero();
  }

  @Test
  void shouldUseComputedChecksumsWhenRecordedOnesAreWrong() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).faults("flip-bit@3,seed=3"));
    TestExecutor server = start(new TestExecutor.Options(2));
    server.outputs().write(0, random, 1_000, 1_000);
    server.outputs().corrupt(0, 500);
    byte[] inFile = Files.readAllBytes(server.outputs().open(0, 0).dataFile());
    List<BlockRange> blocks = List.of(new BlockRange(0, 0, 0, 1));
    reader.tcpAnswers(Arrays.copyOf(inFile, 1_000));
    fetch(reader, server, blocks).bytes(0);
    assertThat(reader.count(FallbackReason.CHECKSUM_UNUSABLE)).isEqualTo(1);
    fetch(reader, server, blocks).bytes(0);
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(1);
    // The third READ has a flipped bit, which only a checksum detects.
    fetch(reader, server, blocks).bytes(0);
    assertThat(reader.count(FallbackReason.CORRUPT)).isEqualTo(1);
  }

  @Test
  void shouldComputeNoChecksumsWithoutVerification() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1));
    TestExecutor server = start(new TestExecutor.Options(2).verify(false));
    server.outputs().write(0, random, 1_000);
    server.outputs().forgetSums(0);
    fetch(reader, server, List.of(new BlockRange(0, 0, 0, 1))).bytes(0);
    assertThat(reader.count(Counter.BLOCKS_UNVERIFIED)).isEqualTo(1);
  }
}
