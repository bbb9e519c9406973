// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.counters;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    readFiles(files, port, ethernet, values, unread);
    if (ethernet) {
      readStatistics(files, statistics, port, values, unread);
    }
    for (CounterClass one : CounterClass.values()) {
      if (!values.containsKey(one)) {
        unread.putIfAbsent(one, NO_COUNTER);
      }
    }
    return new PortCounters(values, unread);
  }

  /**
   * The meaning of a counter: its own sentence, or that of its class where it has none; without a
   * full stop.
   *
   * @param counter its name in {@link #values}
   */
  public static String meaning(CounterClass one, String counter) {
    KnownCounters known = KnownCounters.all();
    return known
        .file(counter)
        .or(() -> known.statistic(counter.substring(counter.lastIndexOf(' ') + 1)))
        .map(KnownCounters.Known::meaning)
        .orElse(one.meaning());
  }

  private static void readFiles(
      SystemFiles files,
      String port,
      boolean ethernet,
      Map<CounterClass, Map<String, Long>> values,
      Map<CounterClass, String> unread) {
    for (String directory : List.of(port + "/counters", port + "/hw_counters")) {
      for (String name : files.names(directory)) {
        CounterClass one =
            KnownCounters.all().file(name).map(KnownCounters.Known::type).orElse(null);
        if (one != null && !(ethernet && one == CounterClass.PAUSE)) {
          OptionalLong value = SystemFiles.number(files.text(directory + "/" + name).orElse(""));
          value.ifPresentOrElse(
              number -> put(values, one, name, number),
              () -> unread.put(one, name + " cannot be read"));
        }
      }
    }
  }

  private static void put(
      Map<CounterClass, Map<String, Long>> values, CounterClass one, String name, long value) {
    values.computeIfAbsent(one, key -> new TreeMap<>()).put(name, value);
  }

  /** Statistics of the network interfaces: pause frames, which no file has, and those known. */
  private static void readStatistics(
      SystemFiles files,
      NetworkStatistics statistics,
      String port,
      Map<CounterClass, Map<String, Long>> values,
      Map<CounterClass, String> unread) {
    Set<String> networks = networks(files, port);
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
              (name, value) ->
                  classOf(name)
                      .ifPresent(
                          one ->
                              put(
                                  values,
                                  one,
                                  networks.size() > 1 ? network + " " + name : name,
                                  value)));
    }
    if (!values.containsKey(CounterClass.PAUSE)) {
      unread.put(CounterClass.PAUSE, reason);
    }
  }

  private static Optional<CounterClass> classOf(String statistic) {
    return KnownCounters.all()
        .statistic(statistic)
        .map(KnownCounters.Known::type)
        .or(
            () ->
                Ethtool.countsPauses(statistic)
                    ? Optional.of(CounterClass.PAUSE)
                    : Optional.empty());
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
