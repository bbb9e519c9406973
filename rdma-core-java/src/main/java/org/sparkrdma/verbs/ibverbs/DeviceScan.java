// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * Queries all devices of the machine. A device or port that fails is skipped and logged once with
 * its reason, so that it does not disable the others. Safe for any thread.
 */
final class DeviceScan {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceScan.class);

  private final Set<String> logged = ConcurrentHashMap.newKeySet();

  /** Queries one device. */
  @FunctionalInterface
  interface Query {
    /**
     * @throws VerbsException naming the device, when it fails
     */
    DeviceInfo of(long context) throws VerbsException;
  }

  /**
   * The devices that answer.
   *
   * @throws VerbsException when there are devices and all fail; with every reason
   */
  List<DeviceInfo> run(List<Long> contexts, Query query) throws VerbsException {
    List<DeviceInfo> devices = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    VerbsException first = null;
    for (long context : contexts) {
      try {
        devices.add(query.of(context));
      } catch (VerbsException e) {
        failures.add(e.getMessage());
        first = first == null ? e : first;
      }
    }
    if (devices.isEmpty() && first != null) {
      throw new VerbsException(
          "ibv_query_device", "no device can be queried: " + String.join("; ", failures), first);
    }
    failures.forEach(this::skip);
    return devices;
  }

  /**
   * Logs once that a device or a port is not used.
   *
   * @param reason names the device, and the port when the device has others
   */
  void skip(String reason) {
    if (logged.add(reason)) {
      LOG.warn("Skipping an RDMA device or port that cannot be queried: {}", reason);
    }
  }
}
