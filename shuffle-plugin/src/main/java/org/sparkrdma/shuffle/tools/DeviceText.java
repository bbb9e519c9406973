// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.PortInfo;

/** The facts of a device as nested names and values, for text and JSON. Stateless. */
final class DeviceText {
  private DeviceText() {}

  static Map<String, Object> of(DeviceInfo device) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("name", device.name());
    facts.put("transport", lower(device.transport()));
    facts.put("nodeGuid", guid(device.nodeGuid()));
    facts.put(
        "capabilities", device.capabilities().stream().map(DeviceText::lower).sorted().toList());
    facts.put("limits", limits(device.limits()));
    if (!device.reported().isEmpty()) {
      facts.put("reported", device.reported());
    }
    facts.put("ports", device.ports().stream().map(DeviceText::port).toList());
    return facts;
  }

  private static Map<String, Object> limits(DeviceLimits limits) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("maxQueuePairs", limits.maxQueuePairs());
    facts.put("maxQueuePairDepth", limits.maxQueuePairDepth());
    facts.put("maxSge", limits.maxSge());
    facts.put("maxReadSge", limits.maxReadSge());
    facts.put("maxCompletionQueueDepth", limits.maxCompletionQueueDepth());
    facts.put("maxMemoryRegions", limits.maxMemoryRegions());
    facts.put("maxMemoryRegionBytes", limits.maxMemoryRegionBytes());
    facts.put("maxMessageBytes", limits.maxMessageBytes());
    facts.put("maxReadsInFlight", limits.maxReadsInFlight());
    facts.put("maxInlineBytes", limits.maxInlineBytes());
    facts.put("maxPrivateDataBytes", limits.maxPrivateDataBytes());
    facts.put("completionVectors", limits.completionVectors());
    return facts;
  }

  private static Map<String, Object> port(PortInfo port) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("number", port.number());
    facts.put("state", lower(port.state()));
    facts.put("activeMtuBytes", port.activeMtuBytes());
    facts.put("gids", port.gids().stream().map(DeviceText::gid).toList());
    facts.put("addresses", port.addresses().stream().map(InetAddress::getHostAddress).toList());
    if (!port.reported().isEmpty()) {
      facts.put("reported", port.reported());
    }
    return facts;
  }

  private static Map<String, Object> gid(Gid gid) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("index", gid.index());
    facts.put("type", lower(gid.type()));
    facts.put("address", gid.address().getHostAddress());
    return facts;
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Formats it as ibv_devinfo does. */
  private static String guid(long guid) {
    return String.format(Locale.ROOT, "%016x", guid).replaceAll("(.{4})(?=.)", "$1:");
  }

  /** Lines of text, one for each value and each item of a list. */
  static void print(StringBuilder text, String indent, Map<?, ?> facts) {
    for (Map.Entry<?, ?> fact : facts.entrySet()) {
      String name = indent + fact.getKey();
      if (fact.getValue() instanceof Map<?, ?> nested) {
        text.append(name).append(":\n");
        print(text, indent + "  ", nested);
      } else if (fact.getValue() instanceof List<?> items && isNested(items)) {
        items.forEach(item -> printItem(text, indent, name + ":", (Map<?, ?>) item));
      } else {
        text.append(String.format(Locale.ROOT, "%-30s %s%n", name + ":", plain(fact.getValue())));
      }
    }
  }

  /** One line for an item of plain values, as a GID. */
  private static void printItem(StringBuilder text, String indent, String name, Map<?, ?> item) {
    if (item.values().stream().noneMatch(List.class::isInstance)) {
      text.append(
          String.format(Locale.ROOT, "%-30s %s%n", name, plain(List.copyOf(item.values()))));
    } else {
      text.append(name).append("\n");
      print(text, indent + "  ", item);
    }
  }

  private static boolean isNested(List<?> items) {
    return !items.isEmpty() && items.get(0) instanceof Map<?, ?>;
  }

  private static String plain(Object value) {
    return value instanceof List<?> items
        ? String.join(" ", items.stream().map(String::valueOf).toList())
        : String.valueOf(value);
  }
}
