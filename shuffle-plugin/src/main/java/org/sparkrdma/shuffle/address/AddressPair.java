// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.VerbsException;

/**
 * The addresses of a connection that an initiator chooses, on the one device that an executor has
 * ({@code DeviceChoice}); each failed attempt uses the next pair. Immutable.
 *
 * <p>A pair in one subnet needs no router, so it is preferred; of several such pairs the first one
 * in the order of the peer's addresses. Without a common subnet routing decides whether the peer
 * can be reached.
 *
 * @param source where the connection comes from
 * @param destination where the peer listens
 * @param inOneSubnet whether both are in one subnet
 */
public record AddressPair(
    InetSocketAddress source, InetSocketAddress destination, boolean inOneSubnet) {
  private static final String NO_PAIR =
      "no common subnet, and no common family of addresses that a router may join";

  /**
   * Chooses.
   *
   * @param own addresses of this executor's device, preferred first; not empty
   * @param peer addresses of the peer's listeners, preferred first; not empty
   * @throws VerbsException when no pair is possible, see {@link #all}
   */
  public static AddressPair of(List<NetworkAddress> own, List<ListenerAddress> peer)
      throws VerbsException {
    return of(own, peer, 0);
  }

  /**
   * Chooses another pair after each failure.
   *
   * @param own as for {@link #of(List, List)}
   * @param peer as for {@link #of(List, List)}
   * @param failures number of attempts that have failed
   * @throws VerbsException when no pair is possible, see {@link #all}
   */
  public static AddressPair of(List<NetworkAddress> own, List<ListenerAddress> peer, int failures)
      throws VerbsException {
    List<AddressPair> pairs = all(own, peer);
    if (pairs.isEmpty()) {
      throw new VerbsException("connect", NO_PAIR);
    }
    return pairs.get(Math.floorMod(failures, pairs.size()));
  }

  /**
   * The pair to use, then those to use when it fails: one for each other address of the peer in a
   * common subnet. Without a common subnet one for each address of the peer that a router may join.
   *
   * @param own as for {@link #of(List, List)}
   * @param peer as for {@link #of(List, List)}
   * @return none when the two have neither a common subnet nor a common family of IP addresses
   */
  public static List<AddressPair> all(List<NetworkAddress> own, List<ListenerAddress> peer) {
    List<AddressPair> pairs = new ArrayList<>();
    for (ListenerAddress theirs : peer) {
      for (NetworkAddress ours : own) {
        if (ours.isOnSubnetOf(theirs.network())) {
          pairs.add(inOneSubnet(ours, theirs));
          break;
        }
      }
    }
    if (pairs.isEmpty()) {
      for (ListenerAddress theirs : peer) {
        own.stream()
            .filter(ours -> ours.isRoutableTo(theirs.network()))
            .findFirst()
            .ifPresent(ours -> pairs.add(new AddressPair(ours.socket(0), socket(theirs), false)));
      }
    }
    return pairs;
  }

  private static AddressPair inOneSubnet(NetworkAddress ours, ListenerAddress theirs) {
    InetSocketAddress destination =
        theirs.network().isLinkLocal()
            ? new InetSocketAddress(
                withScopeOf(ours.address(), theirs.network().address()), theirs.port())
            : socket(theirs);
    return new AddressPair(ours.socket(0), destination, true);
  }

  /** A scope means something on its own host only: the peer's link-local address gets ours. */
  private static InetAddress withScopeOf(InetAddress ours, InetAddress theirs) {
    if (!(ours instanceof Inet6Address own) || own.getScopeId() == 0) {
      return theirs;
    }
    try {
      return Inet6Address.getByAddress(null, theirs.getAddress(), own.getScopeId());
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address of a wrong length", e);
    }
  }

  private static InetSocketAddress socket(ListenerAddress theirs) {
    return theirs.network().socket(theirs.port());
  }

  /** Text of log lines. */
  @Override
  public String toString() {
    return "from="
        + source.getAddress().getHostAddress()
        + " to="
        + destination.getAddress().getHostAddress()
        + (inOneSubnet ? "" : " (no common subnet)");
  }
}
