// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * The addresses of a connection that an initiator chooses. Immutable.
 *
 * <p>A pair in one subnet needs no router, so it is preferred; of several such pairs the first one
 * of the family of the peer's first address. Link-local addresses come last: they look alike on
 * every link. Without a common subnet routing decides whether the peer can be reached.
 *
 * @param source where the connection comes from; null leaves the choice to routing
 * @param destination where the peer listens
 * @param inOneSubnet whether both are in one subnet
 */
public record AddressPair(
    InetSocketAddress source, InetSocketAddress destination, boolean inOneSubnet) {

  /**
   * Chooses.
   *
   * @param own addresses of this executor's device, preferred first; not empty
   * @param peer addresses of the peer's listeners, preferred first; not empty
   */
  public static AddressPair of(List<NetworkAddress> own, List<ListenerAddress> peer) {
    Class<?> preferred = peer.get(0).network().address().getClass();
    AddressPair best = null;
    int leastRank = Integer.MAX_VALUE;
    for (ListenerAddress theirs : peer) {
      for (NetworkAddress ours : own) {
        int rank = rank(ours, theirs.network(), preferred);
        if (rank < leastRank) {
          leastRank = rank;
          best = inOneSubnet(ours.address(), theirs);
        }
      }
    }
    return best != null ? best : routed(own, peer);
  }

  /** Lower is better; {@link Integer#MAX_VALUE} for addresses without a common subnet. */
  private static int rank(NetworkAddress ours, NetworkAddress theirs, Class<?> preferred) {
    if (!ours.isOnSubnetOf(theirs)) {
      return Integer.MAX_VALUE;
    }
    int linkLocal = theirs.address().isLinkLocalAddress() ? 2 : 0;
    int otherFamily = theirs.address().getClass() == preferred ? 0 : 1;
    return linkLocal + otherFamily;
  }

  private static AddressPair inOneSubnet(InetAddress ours, ListenerAddress theirs) {
    InetAddress destination = withScopeOf(ours, theirs.network().address());
    return new AddressPair(
        new InetSocketAddress(ours, 0), new InetSocketAddress(destination, theirs.port()), true);
  }

  /** A scope means something on its own host only: the peer's link-local address gets ours. */
  private static InetAddress withScopeOf(InetAddress ours, InetAddress theirs) {
    if (!theirs.isLinkLocalAddress()
        || !(ours instanceof Inet6Address own)
        || own.getScopeId() == 0) {
      return theirs;
    }
    try {
      return Inet6Address.getByAddress(null, theirs.getAddress(), own.getScopeId());
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address of a wrong length", e);
    }
  }

  /** The first pair of one family that a router may join. */
  private static AddressPair routed(List<NetworkAddress> own, List<ListenerAddress> peer) {
    for (ListenerAddress theirs : peer) {
      for (NetworkAddress ours : own) {
        if (areRoutable(ours.address(), theirs.network().address())) {
          return new AddressPair(new InetSocketAddress(ours.address(), 0), socket(theirs), false);
        }
      }
    }
    return new AddressPair(null, socket(peer.get(0)), false);
  }

  private static boolean areRoutable(InetAddress ours, InetAddress theirs) {
    return ours.getClass() == theirs.getClass()
        && !ours.isLinkLocalAddress()
        && !theirs.isLinkLocalAddress();
  }

  private static InetSocketAddress socket(ListenerAddress theirs) {
    return new InetSocketAddress(theirs.network().address(), theirs.port());
  }

  /** Text of log lines. */
  @Override
  public String toString() {
    return "from="
        + (source == null ? "any" : source.getAddress().getHostAddress())
        + " to="
        + destination.getAddress().getHostAddress()
        + (inOneSubnet ? "" : " (no common subnet)");
  }
}
