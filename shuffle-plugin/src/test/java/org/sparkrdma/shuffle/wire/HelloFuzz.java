// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import static org.sparkrdma.fuzz.DecoderGuard.require;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.fuzz.DecoderGuard;

/** The private data of requests, answers and refusals. */
class HelloFuzz {
  private static final DecoderGuard GUARD =
      new DecoderGuard("wire.Hello", MalformedMessageException.class);
  private static final byte[] KEY = new byte[32];
  private static final int PROVEN_BYTES = 36;
  private static final Hello REQUEST = Hello.request(1, 2, 3, new byte[Hello.NONCE_BYTES]);
  private static final ConnectionBinding BINDING =
      new ConnectionBinding(17, InetAddress.getLoopbackAddress(), InetAddress.getLoopbackAddress());

  static Stream<byte[]> privateData() {
    byte[] request = REQUEST.encodeRequest(KEY, BINDING);
    return Stream.of(
        request,
        REQUEST.answer(2, new byte[Hello.NONCE_BYTES]).encodeAnswer(KEY, BINDING, REQUEST),
        Hello.encodeRefusal(Hello.Refusal.BUSY),
        Arrays.copyOf(request, 196));
  }

  @MethodSource("privateData")
  @FuzzTest(maxExecutions = 200_000, maxDuration = "10m")
  void shouldDecodeAHelloOrRefuseIt(byte[] input) {
    GUARD.accepts(input.length, () -> read(input));
  }

  private static void read(byte[] input) {
    Hello.decodeRefusal(input);
    Hello hello = Hello.decode(input);
    byte[] again = hello.encodeRequest(KEY, BINDING);
    require(Arrays.equals(again, 0, PROVEN_BYTES, input, 0, PROVEN_BYTES), "the same bytes", 0);
    boolean same = Arrays.equals(again, Arrays.copyOf(input, Hello.LENGTH_BYTES));
    require(hello.isProvenRequest(input, KEY, BINDING) == same, "only the one proof", 0);
    boolean both = same && hello.isProvenAnswer(input, KEY, BINDING, REQUEST);
    require(!both, "no proof of both", 0);
  }

  @AfterAll
  static void report() throws IOException {
    GUARD.report();
  }
}
