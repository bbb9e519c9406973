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

/** Releases of leases, their answers, and returned credits. */
class ReleaseFuzz {
  private static final DecoderGuard GUARD =
      new DecoderGuard("wire.Release", MalformedMessageException.class);

  static Stream<byte[]> messages() {
    ByteBuffer out = ByteBuffer.allocate(100);
    Release.Encoder encoder = new Release.Encoder().begin(out, 7);
    encoder.lease(1);
    encoder.lease(-1);
    byte[] release = Arrays.copyOf(out.array(), encoder.finish());
    byte[] asking = release.clone();
    asking[1] = 1;
    byte[] answer = Arrays.copyOf(out.array(), Release.encodeAnswer(out, 7, 3));
    return Stream.of(
        release, asking, answer, Arrays.copyOf(out.array(), ReturnedCredit.encode(out)));
  }

  @MethodSource("messages")
  @FuzzTest(maxExecutions = 200_000, maxDuration = "10m")
  void shouldDecodeLeasesOrRefuseThem(byte[] input) {
    GUARD.accepts(input.length, () -> read(input));
  }

  private static void read(byte[] input) {
    ByteBuffer message = ByteBuffer.wrap(input);
    if (MessageType.of(message) == MessageType.RETURN) {
      ReturnedCredit.check(message);
      require(input.length == ReturnedCredit.LENGTH_BYTES, "the whole message", input.length);
      return;
    }
    Release read =
        switch (MessageType.of(message)) {
          case RELEASE -> Release.decode(message);
          case RELEASED -> Release.decodeAnswer(message);
          default -> throw new MalformedMessageException("another message");
        };
    int length = Release.HEADER_BYTES + read.leaseCount() * Long.BYTES;
    require(length == input.length, "the whole message", length);
    for (int i = 0; i < read.leaseCount(); i++) {
      read.leaseId(i);
    }
    read.requestId();
  }

  @AfterAll
  static void report() throws IOException {
    GUARD.report();
  }
}
