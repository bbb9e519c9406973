// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.engine.EngineBase;
import org.sparkrdma.verbs.engine.NetworkLinks;

/** Opens the machine's devices. Safe for any thread. */
final class IbverbsEngine extends EngineBase {
  private static final Logger LOG = LoggerFactory.getLogger(IbverbsEngine.class);

  private final Libraries libraries;
  private final NetworkLinks links;
  private final Set<String> skipped = ConcurrentHashMap.newKeySet();

  /**
   * @param links network interfaces of the host; others in tests
   */
  IbverbsEngine(Libraries libraries, NetworkLinks links) {
    this.libraries = libraries;
    this.links = links;
  }

  @Override
  public String name() {
    return IbverbsProvider.NAME;
  }

  /**
   * A device or port that fails is skipped and logged once with its reason, so that it does not
   * disable the others.
   *
   * @throws VerbsException when there are devices and all fail; with every reason
   */
  @Override
  public List<DeviceInfo> devices() throws VerbsException {
    List<DeviceInfo> devices = new ArrayList<>();
    List<VerbsException> failures = new ArrayList<>();
    try (Contexts contexts = Contexts.open(libraries)) {
      for (long context : contexts.all()) {
        try {
          devices.add(facts(context));
        } catch (VerbsException e) {
          failures.add(e);
        }
      }
    }
    List<String> reasons = failures.stream().map(VerbsException::getMessage).toList();
    if (devices.isEmpty() && !failures.isEmpty()) {
      throw new VerbsException(
          "ibv_query_device",
          "no device can be queried: " + String.join("; ", reasons),
          failures.get(0));
    }
    reasons.forEach(this::skip);
    return devices;
  }

  private void skip(String reason) {
    if (skipped.add(reason)) {
      LOG.warn("Skipping an RDMA device or port that cannot be queried: {}", reason);
    }
  }

  @Override
  protected Device newDevice(String deviceName, DeviceInfo known, Consumer<Device> onClosed)
      throws VerbsException {
    Contexts contexts = Contexts.open(libraries);
    Device opened = null;
    try {
      for (long context : contexts.all()) {
        if (Contexts.name(context).equals(deviceName)) {
          DeviceInfo info = known == null ? facts(context) : known;
          opened = new IbverbsDevice(libraries, contexts, context, info, onClosed);
          return opened;
        }
      }
      throw noSuchDevice(deviceName);
    } finally {
      if (opened == null) {
        contexts.close();
      }
    }
  }

  private DeviceInfo facts(long context) throws VerbsException {
    return DeviceFacts.of(libraries, context, links, this::skip);
  }
}
