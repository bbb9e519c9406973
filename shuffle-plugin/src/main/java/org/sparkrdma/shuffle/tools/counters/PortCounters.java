// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.counters;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/**
 * One reading of the counters of a port.
 *
 * @param values by class and name; a class without a value that could be read is absent
 * @param unread the reason for each absent class
 */
public record PortCounters(
    Map<CounterClass, Map<String, Long>> values, Map<CounterClass, String> unread) {
  private static final String INTERFACES = "sys/class/net/";
  private static final String LOWER = "lower_";
  private static final String NO_COUNTER = "the driver has no counter of it";

  /**
   * Reads them.
   *
   * @param files of this machine
   * @param port its directory in {@code /sys}, without the first slash
   */
  public static PortCounters of(SystemFiles files, NetworkStatistics statistics, String port) {
    Map<CounterClass, Map<String, Long>> values = new EnumMap<>(CounterClass.class);
    Map<CounterClass, String> unread = new EnumMap<>(CounterClass.class);
    boolean ethernet = !new PortFiles(files, port).isInfiniband();
    for (CounterClass one : CounterClass.values()) {
      if (one != CounterClass.PAUSE || !ethernet) {
        readFiles(files, port, one, values, unread);
      }
    }
    if (ethernet) {
      readPauses(files, statistics, port, values, unread);
    }
    return new PortCounters(values, unread);
  }

  private static void readFiles(
      SystemFiles files,
      String port,
      CounterClass one,
      Map<CounterClass, Map<String, Long>> values,
      Map<CounterClass, String> unread) {
    Map<String, Long> found = new TreeMap<>();
    for (String directory : List.of(port + "/counters", port + "/hw_counters")) {
      for (String name : files.names(directory)) {
        if (one.has(name)) {
          OptionalLong value = SystemFiles.number(files.text(directory + "/" + name).orElse(""));
          value.ifPresentOrElse(
              number -> found.put(name, number), () -> unread.put(one, name + " cannot be read"));
        }
      }
    }
    if (!found.isEmpty()) {
      values.put(one, found);
    } else {
      unread.putIfAbsent(one, NO_COUNTER);
    }
  }

  private static void readPauses(
      SystemFiles files,
      NetworkStatistics statistics,
      String port,
      Map<CounterClass, Map<String, Long>> values,
      Map<CounterClass, String> unread) {
    Set<String> networks = networks(files, port);
    Map<String, Long> found = new TreeMap<>();
    String reason = "no network interface was found";
    for (String network : networks) {
      NetworkStatistics.Answer answer = statistics.of(network);
      reason =
          answer.failure().isEmpty()
              ? "ethtool -S " + network + " has no statistic of it"
              : answer.failure();
      answer
          .values()
          .forEach(
              (name, value) -> {
                if (Ethtool.countsPauses(name)) {
                  found.put(networks.size() > 1 ? network + " " + name : name, value);
                }
              });
    }
    if (found.isEmpty()) {
      unread.put(CounterClass.PAUSE, reason);
    } else {
      values.put(CounterClass.PAUSE, found);
    }
  }

  /** The network interfaces of a port; those below, where they are VLANs or bonds. */
  private static Set<String> networks(SystemFiles files, String port) {
    Set<String> networks = new TreeSet<>();
    new PortFiles(files, port)
        .networkInterfaces()
        .forEach(name -> addLowest(files, name, networks));
    if (networks.isEmpty()) {
      // iWARP before Linux 6.5: a GID has no interface.
      files.names(port + "/../../device/net").forEach(name -> addLowest(files, name, networks));
    }
    return networks;
  }

  private static void addLowest(SystemFiles files, String network, Set<String> networks) {
    List<String> lower =
        files.names(INTERFACES + network).stream()
            .filter(name -> name.startsWith(LOWER))
            .map(name -> name.substring(LOWER.length()))
            .toList();
    if (lower.isEmpty()) {
      networks.add(network);
    } else {
      lower.forEach(name -> addLowest(files, name, networks));
    }
  }
}
