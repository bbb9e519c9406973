// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.verbs.soft.shared.ProcessIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.soft.wire.LinkHello;

/**
 * The devices that this one is connected to, by the name of their directory, its endpoints that
 * have a socket, and the regular check whether the processes of peers are alive. Guarded by the
 * lock of the device.
 */
final class SoftPeers {
  private final SharedDirectory shared;
  private final ProcessIdentity self;
  private final long checkNs;
  private final DeviceLoop loop;
  private final Map<String, SoftPeer> byName = new HashMap<>();
  private final Set<SoftEndpoint> endpoints = new HashSet<>();
  private Timers.Timer nextCheck;

  SoftPeers(DeviceLoop loop, SharedDirectory shared, ProcessIdentity self, long checkNs) {
    this.loop = loop;
    this.checkNs = checkNs;
    this.shared = shared;
    this.self = self;
  }

  /**
   * Checks the first message of a connection and returns its sender. The caller releases it.
   *
   * @throws IOException with the reason, when the message is not genuine
   */
  SoftPeer acquire(LinkHello hello, int initiatorPort, int listenerPort) throws IOException {
    if (!hello.process().equals(SharedDirectory.ownerOf(hello.directory()))
        || !hello.process().isAlive()) {
      throw new IOException("the hello names a directory of another process");
    }
    SoftPeer peer = byName.get(hello.directory());
    if (peer == null) {
      peer = attach(hello);
    }
    if (!hello.isProvenBy(peer.table.secret(), initiatorPort, listenerPort)) {
      release(peer);
      throw new IOException("the proof in the hello is wrong");
    }
    peer.connections++;
    scheduleCheck();
    return peer;
  }

  private SoftPeer attach(LinkHello hello) throws IOException {
    Path directory = shared.peer(hello.directory());
    SharedTable table = SharedTable.attach(directory.resolve(SharedDirectory.TABLE));
    int shortReader = table.claimReader(self);
    int longReader = shortReader < 0 ? -1 : table.claimReader(self);
    if (longReader < 0) {
      if (shortReader >= 0) {
        table.releaseReader(shortReader);
      }
      throw new IOException("the peer has too many peers: limit=" + SharedTable.READERS / 2);
    }
    var peer =
        new SoftPeer(hello.directory(), hello.process(), table, shortReader, longReader, directory);
    byName.put(peer.name, peer);
    return peer;
  }

  /** Releases the peer for one connection. */
  void release(SoftPeer peer) {
    if (peer.connections > 0) {
      peer.connections--;
    }
    if (peer.connections == 0) {
      byName.remove(peer.name);
      peer.close();
    }
  }

  boolean isEmpty() {
    return byName.isEmpty();
  }

  /** Closes files of deregistered regions; returns the peers whose process ended. */
  List<SoftPeer> check() {
    List<SoftPeer> dead = new ArrayList<>();
    for (SoftPeer peer : byName.values()) {
      peer.closeDeadFiles();
      if (!peer.process.isAlive()) {
        dead.add(peer);
      }
    }
    return dead;
  }

  private void scheduleCheck() {
    if (nextCheck == null) {
      nextCheck = loop.schedule(System.nanoTime() + checkNs, this::endDeadPeers);
    }
  }

  private void endDeadPeers() {
    nextCheck = null;
    for (SoftPeer dead : check()) {
      for (SoftEndpoint endpoint : List.copyOf(endpoints)) {
        if (endpoint.peer() == dead) {
          endpoint.onEnded("the peer's process ended: pid=" + dead.process.pid());
        }
      }
    }
    if (!isEmpty()) {
      scheduleCheck();
    }
  }

  void add(SoftEndpoint endpoint) {
    endpoints.add(endpoint);
  }

  void remove(SoftEndpoint endpoint) {
    endpoints.remove(endpoint);
  }

  /** Number of endpoints that have not received their peer's first message yet. */
  long halfOpenCount() {
    return endpoints.stream().filter(SoftEndpoint::isHalfOpen).count();
  }

  void closeAll() {
    List.copyOf(endpoints).forEach(SoftEndpoint::closeNow);
  }
}
