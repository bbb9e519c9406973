// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
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
  void shouldRefuseNoAddressAndTooMany() {
    assertRefused(List.of());
    assertRefused(Collections.nCopies(Endpoint.MAX_ADDRESSES + 1, List.of(FOUR, 24, 4_711)));
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
    Endpoint endpoint =
        new Endpoint("7", "host", addresses, "soft", 1, 1, new byte[Endpoint.TOKEN_BYTES]);
    return ExecutorRecord.available(endpoint, 1, 1);
  }
}
