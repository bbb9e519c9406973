// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.sparkrdma.verbs.soft.wire.LinkHello;

/**
 * The endpoints of a device that have a socket, and the regular check whether the processes of
 * their peers are alive. Confined to the device thread.
 */
final class Endpoints {
  private final DeviceLoop loop;
  private final SoftPeers peers;
  private final long peerCheckNs;
  private final Set<SoftEndpoint> open = new HashSet<>();
  private Timers.Timer peerCheck;

  Endpoints(DeviceLoop loop, SoftPeers peers, long peerCheckNs) {
    this.loop = loop;
    this.peers = peers;
    this.peerCheckNs = peerCheckNs;
  }

  void add(SoftEndpoint endpoint) {
    open.add(endpoint);
  }

  void remove(SoftEndpoint endpoint) {
    open.remove(endpoint);
  }

  /** Number of those that have not received their peer's first message yet. */
  long halfOpenCount() {
    return open.stream().filter(SoftEndpoint::isHalfOpen).count();
  }

  /** Checks a peer's first message and makes its sender a peer, see {@link SoftPeers#acquire}. */
  SoftPeer acquirePeer(LinkHello hello, int initiatorPort, int listenerPort) throws IOException {
    SoftPeer peer = peers.acquire(hello, initiatorPort, listenerPort);
    scheduleCheck();
    return peer;
  }

  void releasePeer(SoftPeer peer) {
    peers.release(peer);
  }

  private void scheduleCheck() {
    if (peerCheck == null) {
      peerCheck = loop.schedule(System.nanoTime() + peerCheckNs, this::checkPeers);
    }
  }

  private void checkPeers() {
    peerCheck = null;
    for (SoftPeer dead : peers.check()) {
      for (SoftEndpoint endpoint : List.copyOf(open)) {
        if (endpoint.peer() == dead) {
          endpoint.onEnded("the peer's process ended: pid=" + dead.process.pid());
        }
      }
    }
    if (!peers.isEmpty()) {
      scheduleCheck();
    }
  }

  void closeAll() {
    List.copyOf(open).forEach(SoftEndpoint::closeNow);
  }
}
