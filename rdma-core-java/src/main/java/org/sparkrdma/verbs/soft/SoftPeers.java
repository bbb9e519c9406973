// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * The devices that this one is connected to, by the name of their directory. Guarded by the lock of
 * the device.
 */
final class SoftPeers {
  private static final long CHECK_NS = 500_000_000;

  private final SoftDevice device;
  private final Map<String, SoftPeer> byName = new HashMap<>();
  private boolean isCheckScheduled;

  SoftPeers(SoftDevice device) {
    this.device = device;
  }

  /**
   * The device of that directory. The caller releases it.
   *
   * @throws IOException with the reason, when it is no directory of a device of this user
   */
  SoftPeer acquire(String directory) throws IOException {
    SoftPeer peer = byName.get(directory);
    if (peer == null) {
      peer = new SoftPeer(device.directory.peer(directory), device.copiesReads);
      byName.put(peer.name, peer);
    }
    peer.connections++;
    scheduleCheck();
    return peer;
  }

  /** Releases the peer for one connection. */
  void release(SoftPeer peer) {
    peer.connections--;
    if (peer.connections == 0) {
      byName.remove(peer.name);
      peer.close();
    }
  }

  boolean isEmpty() {
    return byName.isEmpty();
  }

  private void scheduleCheck() {
    if (!isCheckScheduled) {
      isCheckScheduled = true;
      device.loop.schedule(System.nanoTime() + CHECK_NS, this::closeDeadFiles);
    }
  }

  private void closeDeadFiles() {
    isCheckScheduled = false;
    byName.values().forEach(SoftPeer::closeDeadFiles);
    if (!isEmpty()) {
      scheduleCheck();
    }
  }
}
