// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;

class RecordCodecTest {
  private static final byte[] FOUR = {10, 1, 0, 5};

  @Test
  void shouldNotEncodeAScopeWhichMeansNothingElsewhere() throws Exception {
    byte[] bytes = InetAddress.getByName("fe80::5").getAddress();
    Inet6Address scoped = Inet6Address.getByAddress(null, bytes, 7);
    List<Object> encoded =
        RecordCodec.encode(
            record(List.of(new ListenerAddress(new NetworkAddress(scoped, 64), 4_711))));

    InetAddress address = Endpoints.preferredAddress(decoded(encoded)).getAddress();

    assertThat(((Inet6Address) address).getScopeId()).isZero();
  }

  @Test
  void shouldRefuseAddressesThatAreMalformed() {
    List<List<Object>> malformed =
        List.of(
            List.of(),
            List.of(FOUR, 24, 4_711),
            List.of(FOUR, 24, 4_711, 1),
            List.of(new byte[5], 24, 4_711, false),
            List.of("10.1.0.5", 24, 4_711, false),
            List.of(FOUR, 33, 4_711, false),
            List.of(FOUR, -1, 4_711, false),
            List.of(FOUR, 24L, 4_711, false),
            List.of(FOUR, 24, 0, false),
            List.of(FOUR, 24, 65_536, false),
            List.of(new byte[4], 24, 4_711, false),
            List.of(new byte[] {(byte) 224, 0, 0, 1}, 24, 4_711, false));
    for (List<Object> address : malformed) {
      assertRefused(List.of(address));
    }
    assertRefused(List.of());
    assertRefused(Collections.nCopies(Endpoint.MAX_ADDRESSES + 1, List.of(FOUR, 24, 4_711, false)));
  }

  private static ListenerAddress gidListener(String gid, int port) throws UnknownHostException {
    return new ListenerAddress(NetworkAddress.ofGid(InetAddress.getByName(gid)), port);
  }

  @Test
  void shouldEncodeGidsBesideIpAddresses() throws Exception {
    List<ListenerAddress> addresses =
        List.of(
            new ListenerAddress(new NetworkAddress(InetAddress.getByAddress(FOUR), 24), 4_711),
            gidListener("fe80::2:c903:29:1", 4_712));

    assertThat(decoded(RecordCodec.encode(record(addresses))).addresses()).isEqualTo(addresses);
  }

  @Test
  void shouldRefuseGidsThatAreMalformed() throws Exception {
    byte[] gid = InetAddress.getByName("fe80::2:c903:29:1").getAddress();
    byte[] mapped = new byte[16];
    Arrays.fill(mapped, 10, 12, (byte) 0xff);
    List<Object> malformed =
        List.of(
            List.of(FOUR, 24, 4_711, true),
            List.of(new byte[15], 64, 4_711, true),
            List.of(new byte[16], 64, 4_711, true),
            List.of(mapped, 64, 4_711, true),
            List.of(InetAddress.getByName("ff12::1").getAddress(), 64, 4_711, true),
            List.of(gid, 128, 4_711, true),
            List.of(gid, 64, 0, true),
            "fe80::1");
    for (Object address : malformed) {
      assertRefused(List.of(address));
    }
    assertRefused("fe80::1");
  }

  private static void assertRefused(Object addresses) {
    List<Object> encoded = encoded();
    encoded.set(4, addresses);
    assertThatThrownBy(() -> RecordCodec.decode(encoded))
        .as("addresses %s", addresses)
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static List<Object> encoded() {
    try {
      NetworkAddress network = new NetworkAddress(InetAddress.getByAddress(FOUR), 24);
      return new ArrayList<>(
          RecordCodec.encode(record(List.of(new ListenerAddress(network, 4_711)))));
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Endpoint decoded(List<Object> encoded) {
    return RecordCodec.decode(encoded).endpoint().orElseThrow();
  }

  private static ExecutorRecord record(List<ListenerAddress> addresses) {
    Endpoint endpoint = new Endpoint("7", addresses, "soft", 1, 1, new byte[Endpoint.TOKEN_BYTES]);
    return ExecutorRecord.available(endpoint, 1, 1);
  }
}
