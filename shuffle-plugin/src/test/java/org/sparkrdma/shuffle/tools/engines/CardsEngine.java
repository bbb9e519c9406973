// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.spi.EngineSettings;

/** Several devices, each of which is the loopback device under another name, or fails to open. */
public final class CardsEngine implements VerbsEngine {
  private static final int MTU = 4_096;

  private final VerbsEngine soft = Verbs.choose("soft", EngineSettings.none()).engine();
  private final List<DeviceInfo> devices = new ArrayList<>();
  private final Map<String, String> failures = new TreeMap<>();
  private final List<String> opened = new ArrayList<>();

  /** Adds a device with these ports. */
  public CardsEngine card(String name, PortInfo... ports) throws VerbsException {
    DeviceInfo like = soft.devices().get(0);
    devices.add(
        new DeviceInfo(
            name,
            like.engine(),
            like.transport(),
            like.nodeGuid(),
            like.limits(),
            like.capabilities(),
            List.of(ports)));
    return this;
  }

  /** Makes a device fail when it is opened. */
  CardsEngine fails(String name, String reason) {
    failures.put(name, reason);
    return this;
  }

  /** A port with addresses, all of them without GIDs. */
  public static PortInfo port(int number, PortState state, String... addresses)
      throws UnknownHostException {
    List<InetAddress> list = new ArrayList<>();
    for (String address : addresses) {
      list.add(InetAddress.getByName(address));
    }
    return new PortInfo(number, state, MTU, List.of(), list);
  }

  /** Names of the devices that were opened or failed to open, in order. */
  public List<String> opened() {
    return List.copyOf(opened);
  }

  @Override
  public String name() {
    return soft.name();
  }

  @Override
  public List<DeviceInfo> devices() {
    return List.copyOf(devices);
  }

  @Override
  public Device open(String deviceName) throws VerbsException {
    opened.add(deviceName);
    if (failures.containsKey(deviceName)) {
      throw new VerbsException("ibv_open_device", failures.get(deviceName));
    }
    return soft.open(soft.devices().get(0));
  }

  @Override
  public void close() {
    soft.close();
  }
}
