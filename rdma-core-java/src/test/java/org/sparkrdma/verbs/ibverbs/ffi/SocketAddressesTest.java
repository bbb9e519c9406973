// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.verbs.cm.GidSocketAddress;

/** Bytes in the order of this little-endian machine; what is big-endian is so in the structs. */
class SocketAddressesTest {
  private static final String GID = "fe80:0:0:0:2:c903:29:1";

  private static String written(InetSocketAddress address, int trafficClass) {
    try (NativeArena arena = new NativeArena()) {
      long at = arena.allocate(SocketAddresses.SIZE);
      SocketAddresses.write(at, address);
      SocketAddresses.writeTrafficClass(at, trafficClass);
      return HexFormat.of().formatHex(Native.bytes(at, SocketAddresses.SIZE));
    }
  }

  private static InetSocketAddress read(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    try (NativeArena arena = new NativeArena()) {
      return SocketAddresses.read(arena.allocate(bytes, SocketAddresses.SIZE));
    }
  }

  /** Family 27, the default partition, flow 0, GID, service id, its mask, scope 0. */
  @Test
  void shouldWriteAGidAsSockaddrIb() throws Exception {
    var address = new GidSocketAddress(InetAddress.getByName(GID), 0x1234);

    assertThat(written(address, 0))
        .isEqualTo(
            "1b00"
                + "ffff"
                + "00000000"
                + "fe800000000000000002c90300290001"
                + "0000000001061234"
                + "ffffffffffffffff"
                + "0000000000000000");
  }

  @Test
  void shouldWriteTheTrafficClassOfAGidIntoItsFlow() throws Exception {
    var address = new GidSocketAddress(InetAddress.getByName(GID), 0);

    assertThat(written(address, 0x68)).startsWith("1b00" + "ffff" + "06800000" + "fe80");
    assertThat(written(address, 0xff)).startsWith("1b00" + "ffff" + "0ff00000" + "fe80");
  }

  /** The kernel's number of a port comes back in the last two bytes of the service id. */
  @Test
  void shouldReadTheGidAndThePortThatTheKernelChose() throws Exception {
    InetSocketAddress read =
        read(
            "1b00"
                + "ff7f"
                + "00000006"
                + "fe800000000000000002c90300290001"
                + "000000000106ffff"
                + "ffffffffffffffff"
                + "0000000000000000");

    assertThat(read).isInstanceOf(GidSocketAddress.class).hasToString("gid " + GID + ":65535");
  }

  /** A peer's host names the GID in its request. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "00000000000000000000000000000000",
        "00000000000000000000000000000001",
        "00000000000000000000ffff0a010005",
        "ff12401bffff00000000000000000001"
      })
  void shouldReadNoAddressFromBytesThatAreNoGidOfAPort(String gid) {
    assertThat(read("1b00ffff00000000" + gid + "0000000001060000ffffffffffffffff")).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.1.0.5", "::", "::1", "::ffff:10.1.0.5", "ff12::1"})
  void shouldNotTakeOtherBytesForAGid(String address) throws Exception {
    InetAddress bytes = InetAddress.getByName(address);

    assertThatThrownBy(() -> new GidSocketAddress(bytes, 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "10.1.0.5, 0200" + "1234" + "0a010005",
    "fd00:1::5, 0a00" + "1234" + "00000000" + "fd000001000000000000000000000005" + "00000000"
  })
  void shouldWriteAndReadIpAddresses(String address, String bytes) throws Exception {
    var socket = new InetSocketAddress(InetAddress.getByName(address), 0x1234);

    assertThat(written(socket, 0x68)).isEqualTo((bytes + "0".repeat(96)).substring(0, 96));
    assertThat(read(bytes)).isEqualTo(socket).isExactlyInstanceOf(InetSocketAddress.class);
  }

  @Test
  void shouldKeepTheScopeOfALinkLocalAddressButNotOfAGid() throws Exception {
    byte[] bytes = InetAddress.getByName("fe80::5").getAddress();
    Inet6Address scoped = Inet6Address.getByAddress(null, bytes, 7);

    InetSocketAddress read = read(written(new InetSocketAddress(scoped, 1), 0));
    InetSocketAddress gid = read(written(new GidSocketAddress(scoped, 1), 0));

    assertThat(((Inet6Address) read.getAddress()).getScopeId()).isEqualTo(7);
    assertThat(((Inet6Address) gid.getAddress()).getScopeId()).isZero();
  }
}
