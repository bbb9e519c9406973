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

/** Answers of servers. */
class LocatedFuzz {
  private static final DecoderGuard GUARD =
      new DecoderGuard("wire.Located", MalformedMessageException.class);

  static Stream<byte[]> messages() {
    ByteBuffer out = ByteBuffer.allocate(400);
    Located.Encoder encoder = new Located.Encoder().begin(out, 7, 3);
    encoder.located(0, 1L << 40, -1, 100, 50, 200, 2);
    encoder.sum(60, 1);
    encoder.sum(150, -1);
    encoder.byTcp(1, Located.Kind.BUSY);
    encoder.byTcp(2, Located.Kind.UNKNOWN);
    encoder.located(3, 1L << 40, 5, 0, 0, 0, 0);
    return Stream.of(Arrays.copyOf(out.array(), encoder.finish(9, 30_000)));
  }

  @MethodSource("messages")
  @FuzzTest(maxExecutions = 200_000, maxDuration = "10m")
  void shouldDecodeALocatedOrRefuseIt(byte[] input) {
    GUARD.accepts(input.length, () -> read(input));
  }

  private static void read(byte[] input) {
    Located.Decoder read = new Located.Decoder().begin(ByteBuffer.wrap(input));
    require(read.leaseRemainingMs() >= 0, "a duration", read.leaseRemainingMs());
    require(read.checksumKind() <= 3, "a kind of sum", read.checksumKind());
    long sums = 0;
    int extents = 0;
    while (read.nextExtent()) {
      extents++;
      sums += read.sumCount();
      require(read.lengthBytes() >= 0, "a length", read.lengthBytes());
      require(read.blockOffset() >= 0, "an offset", read.blockOffset());
      long end = read.blockOffset() + read.lengthBytes();
      boolean inside = read.kind() != Located.Kind.LOCATED || end <= read.blockBytes();
      require(inside, "an extent in its block", end);
      for (int i = 0; i < read.sumCount(); i++) {
        long sumEnd = read.sumEnd(i);
        require(sumEnd > read.blockOffset() && sumEnd <= end, "a sum in its extent", sumEnd);
        read.sum(i);
      }
    }
    long length = Located.HEADER_BYTES + extents * Located.EXTENT_BYTES + sums * Located.SUM_BYTES;
    require(length == input.length, "the whole message", length);
  }

  @AfterAll
  static void report() throws IOException {
    GUARD.report();
  }
}
