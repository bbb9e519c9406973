// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.VerbsException;

class AddressPairTest {
  private static final int PORT = 4_711;

  @Test
  void shouldTakeTheOtherFamilyRatherThanARouter() throws Exception {
    AddressPair pair =
        AddressPair.of(
            List.of(own("10.1.0.5", 24), own("fd00:1::5", 64)),
            List.of(peer("10.2.0.7", 24), peer("fd00:1::7", 64)));

    assertThat(pair).isEqualTo(pair("fd00:1::5", "fd00:1::7", true));
  }

  @Test
  void shouldCompareNoMoreThanThePrefix() throws Exception {
    assertThat(isInOneSubnet("10.1.2.5", 23, "10.1.3.7", 23)).isTrue();
    assertThat(isInOneSubnet("10.1.2.5", 24, "10.1.3.7", 24)).isFalse();
    assertThat(isInOneSubnet("10.1.2.4", 31, "10.1.2.5", 31)).isTrue();
    assertThat(isInOneSubnet("10.1.2.5", 32, "10.1.2.6", 32)).isFalse();
    assertThat(isInOneSubnet("10.1.2.5", 0, "192.0.2.1", 0)).isTrue();
    assertThat(isInOneSubnet("fd00:0:0:1::5", 63, "fd00:0:0:0::7", 63)).isTrue();
    assertThat(isInOneSubnet("fd00:0:0:1::5", 64, "fd00:0:0:0::7", 64)).isFalse();
  }

  @Test
  void shouldWantBothEndsToSeeOneSubnetWhenPrefixesDiffer() throws Exception {
    assertThat(isInOneSubnet("10.1.0.5", 16, "10.1.0.7", 24)).isTrue();
    assertThat(isInOneSubnet("10.1.0.5", 16, "10.1.9.7", 24)).isFalse();
    assertThat(isInOneSubnet("10.1.9.7", 24, "10.1.0.5", 16)).isFalse();
  }

  @Test
  void shouldFindNoPairWithoutACommonFamilyOrAcrossALink() throws Exception {
    List<NetworkAddress> own = List.of(own("10.1.0.5", 24));
    assertThatThrownBy(() -> AddressPair.of(own, List.of(peer("fd00:1::7", 64))))
        .isInstanceOf(VerbsException.class)
        .hasMessage("no common subnet, and no common family of addresses that a router may join");
    List<NetworkAddress> onLink = List.of(own("fe80::5", 64));
    assertThat(AddressPair.all(onLink, List.of(peer("fd00:1::7", 64)))).isEmpty();
  }

  private static boolean isInOneSubnet(String own, int ownBits, String peer, int peerBits)
      throws UnknownHostException, VerbsException {
    return AddressPair.of(List.of(own(own, ownBits)), List.of(peer(peer, peerBits))).inOneSubnet();
  }

  private static AddressPair pair(String from, String to, boolean inOneSubnet)
      throws UnknownHostException {
    return new AddressPair(socket(at(from), 0), socket(at(to), PORT), inOneSubnet);
  }

  @Test
  void shouldNameEachAddressOfThePeerOnceInItsOrder() throws Exception {
    List<NetworkAddress> own =
        List.of(own("10.1.0.5", 24), own("10.1.0.6", 24), own("fd00:1::5", 64));

    assertThat(
            AddressPair.all(
                own,
                List.of(
                    peer("10.1.0.7", 24),
                    peer("fd00:1::7", 64),
                    peer("10.9.0.7", 24),
                    peer("10.1.0.8", 24))))
        .containsExactly(
            pair("10.1.0.5", "10.1.0.7", true),
            pair("fd00:1::5", "fd00:1::7", true),
            pair("10.1.0.5", "10.1.0.8", true));
  }

  @Test
  void shouldNameAllAddressesThatARouterMayJoinWithoutACommonSubnet() throws Exception {
    assertThat(
            AddressPair.all(
                List.of(own("10.1.0.5", 24)),
                List.of(peer("10.2.0.7", 24), peer("fd00:1::7", 64), peer("10.3.0.7", 24))))
        .containsExactly(pair("10.1.0.5", "10.2.0.7", false), pair("10.1.0.5", "10.3.0.7", false));
  }

  private static InetSocketAddress socket(InetAddress address, int port) {
    return new InetSocketAddress(address, port);
  }

  private static NetworkAddress own(String address, int bits) throws UnknownHostException {
    return new NetworkAddress(at(address), bits);
  }

  private static ListenerAddress peer(String address, int bits) throws UnknownHostException {
    return new ListenerAddress(own(address, bits), PORT);
  }

  private static InetAddress at(String text) throws UnknownHostException {
    return InetAddress.getByName(text);
  }
}
