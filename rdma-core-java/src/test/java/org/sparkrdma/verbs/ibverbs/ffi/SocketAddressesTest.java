// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bytes in the order of this little-endian machine; what is big-endian is so in the structs. */
class SocketAddressesTest {
  private static String written(InetSocketAddress address) {
    try (NativeArena arena = new NativeArena()) {
      long at = arena.allocate(SocketAddresses.SIZE);
      SocketAddresses.write(at, address);
      return HexFormat.of().formatHex(Native.bytes(at, SocketAddresses.SIZE));
    }
  }

  private static InetSocketAddress read(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    try (NativeArena arena = new NativeArena()) {
      return SocketAddresses.read(arena.allocate(bytes, SocketAddresses.SIZE));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "10.1.0.5, 0200" + "1234" + "0a010005",
    "fd00:1::5, 0a00" + "1234" + "00000000" + "fd000001000000000000000000000005" + "00000000"
  })
  void shouldWriteAndReadIpAddresses(String address, String bytes) throws Exception {
    var socket = new InetSocketAddress(InetAddress.getByName(address), 0x1234);

    assertThat(written(socket)).isEqualTo((bytes + "0".repeat(56)).substring(0, 56));
    assertThat(read(bytes)).isEqualTo(socket);
  }
}
