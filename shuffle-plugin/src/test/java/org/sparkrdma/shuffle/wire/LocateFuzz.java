// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import static org.sparkrdma.fuzz.DecoderGuard.require;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.fuzz.DecoderGuard;

/** Requests of readers. */
class LocateFuzz {
  private static final DecoderGuard GUARD =
      new DecoderGuard("wire.Locate", MalformedMessageException.class);

  static Stream<byte[]> messages() {
    ByteBuffer out = ByteBuffer.allocate(200);
    Locate.Encoder encoder = new Locate.Encoder().begin(out, 7, 30_000, 18);
    encoder.lease(1);
    encoder.lease(2);
    encoder.block(0, 1, 2, 3, 0, false, false);
    encoder.block(1, Long.MAX_VALUE, 0, Integer.MAX_VALUE, 99, false, true);
    return Stream.of(Arrays.copyOf(out.array(), encoder.finish()));
  }

  @MethodSource("messages")
  @FuzzTest(maxExecutions = 200_000, maxDuration = "10m")
  void shouldDecodeALocateOrRefuseIt(byte[] input) {
    GUARD.accepts(input.length, () -> read(input));
  }

  private static void read(byte[] input) {
    Locate read = Locate.decode(ByteBuffer.wrap(input));
    ByteBuffer out = ByteBuffer.allocate(input.length);
    Locate.Encoder again =
        new Locate.Encoder().begin(out, read.requestId(), read.timeoutMs(), read.owner());
    for (int i = 0; i < read.leaseCount(); i++) {
      again.lease(read.leaseId(i));
    }
    require(read.owner() >= Locate.OWN, "an owner", read.owner());
    for (int i = 0; i < read.blockCount(); i++) {
      require(read.mapId(i) >= 0, "a map id", read.mapId(i));
      require(read.shuffleId(i) >= 0, "a shuffle id", read.shuffleId(i));
      require(read.startOffset(i) >= 0, "an offset", read.startOffset(i));
      require(read.startReduceId(i) >= 0, "a reduce id", read.startReduceId(i));
      require(read.endReduceId(i) > read.startReduceId(i), "a range", read.endReduceId(i));
      again.block(
          read.shuffleId(i),
          read.mapId(i),
          read.startReduceId(i),
          read.endReduceId(i),
          read.startOffset(i),
          read.freshSums(i),
          read.noCopy(i));
    }
    int length = again.finish();
    require(length == input.length, "the same length", length);
    Locate same = Locate.decode(ByteBuffer.wrap(out.array()));
    require(same.leaseCount() == read.leaseCount(), "the same leases", same.leaseCount());
    require(same.blockCount() == read.blockCount(), "the same blocks", same.blockCount());
  }

  @AfterAll
  static void report() throws IOException {
    GUARD.report();
  }
}
