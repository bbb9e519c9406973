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

/**
 * The message that carries requests, answers and refusals where there is no private data. Not in
 * {@link HelloFuzz}: the fuzzer runs one target in each JVM, and skips others.
 */
class HelloMessageFuzz {
  private static final DecoderGuard GUARD =
      new DecoderGuard("wire.HelloMessage", MalformedMessageException.class);

  static Stream<byte[]> messages() {
    return HelloFuzz.privateData().limit(3).map(HelloMessageFuzz::message);
  }

  @MethodSource("messages")
  @FuzzTest(maxExecutions = 200_000, maxDuration = "10m")
  void shouldBeAHelloMessageOrRefused(byte[] input) {
    GUARD.accepts(input.length, () -> read(input));
  }

  private static byte[] message(byte[] content) {
    byte[] message = new byte[4 + content.length];
    HelloMessage.encode(ByteBuffer.wrap(message), content);
    return message;
  }

  private static void read(byte[] input) {
    byte[] content = HelloMessage.decode(ByteBuffer.wrap(input));
    byte[] again = message(content);
    require(again.length == input.length && again[0] == input[0], "the same message", 0);
    require(Arrays.equals(again, 4, again.length, input, 4, input.length), "its content", 0);
  }

  @AfterAll
  static void report() throws IOException {
    GUARD.report();
  }
}
