// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.util.LinkedHashMap;
import java.util.Map;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.device.DeviceChoice;

/** The choice of a device as names and values for JSON. Stateless. */
final class ChosenDevice {
  private ChosenDevice() {}

  static Map<String, Object> of(DeviceChoice choice) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("engine", choice.device().engine());
    facts.put("device", choice.device().name());
    facts.put("port", choice.port());
    facts.put("addresses", choice.addresses().stream().map(NetworkAddress::toString).toList());
    facts.put("reason", choice.reason());
    return facts;
  }
}
