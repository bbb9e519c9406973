// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.sparkrdma.fuzz.DecoderGuard.require;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.fuzz.DecoderGuard;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/** The first message on a socket to which any process of the host can connect. */
class LinkHelloFuzz {
  private static final DecoderGuard GUARD =
      new DecoderGuard("soft.LinkHello", ProtocolException.class);

  static Stream<byte[]> hellos() {
    return Stream.of(hello("", new byte[0]), hello("12-34-0123456789abcdef", new byte[56]));
  }

  private static byte[] hello(String directory, byte[] privateData) {
    ByteBuffer out = ByteBuffer.allocate(LinkHello.MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    new LinkHello(
            new HostIdentity(new UUID(1, 2), 3, 4, 5),
            8,
            new byte[LinkHello.NONCE_BYTES],
            new byte[SharedTable.SECRET_BYTES],
            directory,
            privateData)
        .encode(out);
    return Arrays.copyOf(out.array(), out.position());
  }

  @MethodSource("hellos")
  @FuzzTest(maxExecutions = 200_000, maxDuration = "10m")
  void shouldDecodeAHelloOrRefuseIt(byte[] input) {
    GUARD.accepts(input.length, () -> read(input));
  }

  private static void read(byte[] input) throws ProtocolException {
    LinkHello hello = LinkHello.decode(ByteBuffer.wrap(input).order(ByteOrder.LITTLE_ENDIAN));
    int dataBytes = hello.privateData().length;
    require(dataBytes <= LinkHello.MAX_PRIVATE_DATA_BYTES, "short private data", dataBytes);
    if (SharedDirectory.ownerOf(hello.directory()) != null) {
      require(hello.directory().matches("[-0-9a-f]+"), "a plain name", 0);
    }
    if (hello.directory().chars().allMatch(c -> c < 128)) {
      ByteBuffer again = ByteBuffer.allocate(input.length).order(ByteOrder.LITTLE_ENDIAN);
      hello.encode(again);
      require(Arrays.equals(again.array(), input), "the same bytes", again.position());
    }
  }

  @AfterAll
  static void report() throws IOException {
    GUARD.report();
  }
}
