// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * The devices that this one is connected to, by the name of their directory. Guarded by the lock of
 * the device.
 */
final class RemoteDevices {
  private static final long CHECK_NS = 500_000_000;

  final Map<String, RemoteDevice> byName = new HashMap<>();

  /** Maximum number of open files of each peer, of which a host has few. */
  int maxOpenFiles = maxOpenFiles();

  private final SoftDevice device;
  private boolean isCheckScheduled;

  RemoteDevices(SoftDevice device) {
    this.device = device;
  }

  /** A part of RLIMIT_NOFILE, see getrlimit(2); where that is unknown, of a common one. */
  private static int maxOpenFiles() {
    try {
      String limits = Files.readString(Path.of("/proc/self/limits"), ISO_8859_1);
      String soft = limits.replaceFirst("(?s).*Max open files +([0-9]{1,9}) .*", "$1");
      return Math.max(64, Math.min(SharedTable.REGIONS, Integer.parseInt(soft) / 16));
    } catch (IOException | NumberFormatException e) {
      return 256;
    }
  }

  /**
   * The device of that directory. The caller releases it.
   *
   * @throws IOException with the reason, when it is no directory of a device of this user
   */
  RemoteDevice acquire(String directory) throws IOException {
    RemoteDevice peer = byName.get(directory);
    if (peer == null) {
      peer = new RemoteDevice(device.directory.peer(directory), device.copiesReads, maxOpenFiles);
      byName.put(peer.name, peer);
    }
    peer.connections++;
    scheduleCheck();
    return peer;
  }

  /** Releases the peer for one connection. */
  void release(RemoteDevice peer) {
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
    byName.values().forEach(RemoteDevice::closeDeadFiles);
    if (!isEmpty()) {
      scheduleCheck();
    }
  }
}
