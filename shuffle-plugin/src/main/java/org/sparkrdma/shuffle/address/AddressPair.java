// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.GidSocketAddress;

/**
 * The addresses of a connection that an initiator chooses. Immutable.
 *
 * <p>A pair in one subnet needs no router, so it is preferred; of several such pairs the first one
 * of the family of the peer's first address. Link-local addresses come last: they look alike on
 * every link. Without a common subnet routing decides whether the peer can be reached. No router
 * joins GIDs, so a GID has a pair with GIDs of its own subnet prefix only.
 *
 * @param source where the connection comes from; null leaves the choice to routing
 * @param destination where the peer listens
 * @param inOneSubnet whether both are in one subnet
 */
public record AddressPair(
    InetSocketAddress source, InetSocketAddress destination, boolean inOneSubnet) {
  private static final String NO_PAIR =
      "no common subnet: a GID reaches GIDs with the same subnet prefix only, and no IP address";

  private static final int LINK_LOCAL_RANK = 2;
  private static final int OTHER_FAMILY_RANK = 1;
  private static final int MAX_RANK = LINK_LOCAL_RANK + OTHER_FAMILY_RANK;

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
   * @return none when one end has only GIDs and the other none with the same subnet prefix
   */
  public static List<AddressPair> all(List<NetworkAddress> own, List<ListenerAddress> peer) {
    Class<?> preferred = peer.get(0).network().address().getClass();
    List<AddressPair> pairs = new ArrayList<>();
    for (int rank = 0; rank <= MAX_RANK; rank++) {
      for (ListenerAddress theirs : peer) {
        for (NetworkAddress ours : own) {
          if (rank(ours, theirs.network(), preferred) == rank) {
            pairs.add(inOneSubnet(ours, theirs));
            break;
          }
        }
      }
    }
    return pairs.isEmpty() ? routed(own, peer) : pairs;
  }

  /** Lower is better; {@link Integer#MAX_VALUE} for addresses without a common subnet. */
  private static int rank(NetworkAddress ours, NetworkAddress theirs, Class<?> preferred) {
    if (!ours.isOnSubnetOf(theirs)) {
      return Integer.MAX_VALUE;
    }
    int linkLocal = theirs.isLinkLocal() ? LINK_LOCAL_RANK : 0;
    int otherFamily = theirs.address().getClass() == preferred ? 0 : OTHER_FAMILY_RANK;
    return linkLocal + otherFamily;
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

  /** Pairs of one family that a router may join; one that leaves all to routing without any. */
  private static List<AddressPair> routed(List<NetworkAddress> own, List<ListenerAddress> peer) {
    List<AddressPair> pairs = new ArrayList<>();
    for (ListenerAddress theirs : peer) {
      for (NetworkAddress ours : own) {
        if (ours.isRoutableTo(theirs.network())) {
          pairs.add(new AddressPair(ours.socket(0), socket(theirs), false));
          break;
        }
      }
    }
    if (pairs.isEmpty() && own.stream().anyMatch(ours -> !ours.isGid())) {
      peer.stream()
          .filter(theirs -> !theirs.network().isGid())
          .findFirst()
          .ifPresent(theirs -> pairs.add(new AddressPair(null, socket(theirs), false)));
    }
    return pairs;
  }

  private static InetSocketAddress socket(ListenerAddress theirs) {
    return theirs.network().socket(theirs.port());
  }

  /** Text of log lines. */
  @Override
  public String toString() {
    return "from="
        + (source == null ? "any" : text(source))
        + " to="
        + text(destination)
        + (inOneSubnet ? "" : " (no common subnet)");
  }

  private static String text(InetSocketAddress address) {
    String bytes = address.getAddress().getHostAddress();
    return address instanceof GidSocketAddress ? "gid " + bytes : bytes;
  }
}
