// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;
import net.jqwik.api.lifecycle.AfterContainer;
import org.sparkrdma.fuzz.DecoderGuard;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/** A LinkHello is decoded as it was encoded; one that is cut or too long is refused. */
class LinkHelloPropertyTest {
  private static final DecoderGuard GUARD =
      new DecoderGuard("soft.properties", ProtocolException.class);

  @Property(seed = "1")
  void shouldDecodeAHelloAsItWasEncoded(
      @ForAll long number,
      @ForAll @Size(LinkHello.NONCE_BYTES) byte[] nonce,
      @ForAll @Size(SharedTable.SECRET_BYTES) byte[] proof,
      @ForAll @StringLength(max = SharedDirectory.MAX_NAME_BYTES) @CharRange(to = 127) String name,
      @ForAll @Size(max = LinkHello.MAX_PRIVATE_DATA_BYTES) byte[] data,
      @ForAll @IntRange(max = 999) int cutPerMille)
      throws ProtocolException {
    LinkHello hello =
        new LinkHello(
            new HostIdentity(new UUID(number, ~number), number + 1, number + 2, (int) number),
            (int) (number >> 16),
            nonce,
            proof,
            name,
            data);
    ByteBuffer out = ByteBuffer.allocate(LinkHello.MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    hello.encode(out);
    int length = out.position();

    LinkHello read = LinkHello.decode(out.slice(0, length).order(ByteOrder.LITTLE_ENDIAN));
    assertThat(read).usingRecursiveComparison().isEqualTo(hello);

    ByteBuffer cut = out.slice(0, length * cutPerMille / 1000).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(GUARD.accepts(length, () -> LinkHello.decode(cut.rewind()))).isFalse();
    ByteBuffer more = out.slice(0, length + 1).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(GUARD.accepts(length, () -> LinkHello.decode(more.rewind()))).isFalse();
  }

  @AfterContainer
  static void report() throws IOException {
    GUARD.report();
  }
}
