// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;
import net.jqwik.api.lifecycle.AfterContainer;
import org.sparkrdma.fuzz.DecoderGuard;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;

/** Records are decoded as they were encoded; shorter and longer ones are refused. */
class RecordCodecPropertyTest {
  private static final DecoderGuard GUARD =
      new DecoderGuard("directory.properties", IllegalArgumentException.class);

  @Property(seed = "1")
  void shouldReadARecordAsItWasWritten(
      @ForAll @StringLength(min = 1, max = 254) String name,
      @ForAll @Size(min = 1, max = Endpoint.MAX_ADDRESSES)
          List<@IntRange(min = 1, max = 65_535) Integer> ports,
      @ForAll @Size(16) byte[] addressBytes,
      @ForAll boolean six,
      @ForAll @IntRange(max = 32) int prefixBits,
      @ForAll @IntRange(max = Integer.MAX_VALUE) int protocol,
      @ForAll long incarnation,
      @ForAll @Size(Endpoint.TOKEN_BYTES) byte[] token,
      @ForAll @IntRange(max = 60_000) int at)
      throws UnknownHostException {
    // 0x20.. and 0x0a.. are neither multicast nor any address.
    addressBytes[0] = (byte) (six ? 0x20 : 10);
    InetAddress address = InetAddress.getByAddress(Arrays.copyOf(addressBytes, six ? 16 : 4));
    NetworkAddress network = new NetworkAddress(address, prefixBits);
    List<ListenerAddress> addresses =
        ports.stream().map(port -> new ListenerAddress(network, port)).toList();
    Endpoint endpoint =
        new Endpoint(name, name + "h", addresses, name, protocol, incarnation, token);
    byte[] encoded = RecordCodec.encode(ExecutorRecord.available(endpoint, incarnation, protocol));

    ExecutorRecord record = RecordCodec.decode(encoded);
    assertThat(record.publisher()).isEqualTo(incarnation);
    assertThat(record.epoch()).isEqualTo(protocol);
    Endpoint read = record.endpoint().orElseThrow();
    assertThat(read.executorId()).isEqualTo(name);
    assertThat(read.host()).isEqualTo(name + "h");
    assertThat(read.addresses()).isEqualTo(addresses);
    assertThat(read.engine()).isEqualTo(name);
    assertThat(read.protocol()).isEqualTo(protocol);
    assertThat(read.incarnation()).isEqualTo(incarnation);
    assertThat(read.token()).isEqualTo(token);

    byte[] shorter = Arrays.copyOf(encoded, at % encoded.length);
    assertThat(GUARD.accepts(shorter.length, () -> RecordCodec.decode(shorter))).isFalse();
    byte[] longer = Arrays.copyOf(encoded, encoded.length + 1);
    assertThat(GUARD.accepts(longer.length, () -> RecordCodec.decode(longer))).isFalse();
    // Perhaps another record.
    encoded[at % encoded.length] ^= (byte) (1 + at % 255);
    GUARD.accepts(encoded.length, () -> RecordCodec.decode(encoded));
  }

  @AfterContainer
  static void report() throws IOException {
    GUARD.report();
  }
}
