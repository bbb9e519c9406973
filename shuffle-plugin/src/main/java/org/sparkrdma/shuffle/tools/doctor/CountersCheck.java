// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import org.sparkrdma.shuffle.tools.counters.CounterClass;
import org.sparkrdma.shuffle.tools.counters.Ethtool;
import org.sparkrdma.shuffle.tools.counters.PortCounters;
import org.sparkrdma.shuffle.tools.counters.PortFiles;

/** Counters of loss and congestion of each port, read twice. */
final class CountersCheck implements Check {
  @Override
  public String name() {
    return "loss and congestion";
  }

  @Override
  public List<Finding> run(Facts facts) {
    Map<String, PortCounters> before = new LinkedHashMap<>();
    facts.ports().forEach(port -> before.put(port, read(facts, port)));
    if (before.isEmpty()) {
      return List.of();
    }
    facts.pause().run();
    boolean all = facts.all().isPresent();
    List<Finding> findings = new ArrayList<>();
    before.forEach(
        (port, first) ->
            addFindings(
                findings,
                new PortFiles(facts.files(), port).name(),
                first,
                read(facts, port),
                all));
    return findings;
  }

  private static PortCounters read(Facts facts, String port) {
    return PortCounters.of(facts.files(), facts.statistics(), port);
  }

  /**
   * Adds the findings of a port.
   *
   * @param all whether each counter has a finding of its own
   */
  private static void addFindings(
      List<Finding> findings, String name, PortCounters before, PortCounters after, boolean all) {
    List<String> zero = new ArrayList<>();
    after
        .values()
        .forEach(
            (one, values) -> {
              Map<String, Long> earlier = before.values().getOrDefault(one, values);
              if (all) {
                values.forEach(
                    (counter, value) ->
                        findings.add(
                            finding(
                                name, one, counter, earlier.getOrDefault(counter, value), value)));
              } else if (values.values().stream().allMatch(value -> value == 0)) {
                zero.add(one.title() + " (" + values.size() + ")");
              } else {
                findings.add(finding(name, one, earlier, values));
              }
            });
    if (!zero.isEmpty()) {
      findings.add(Finding.ok(name + ": all counters are 0 of " + String.join(", ", zero) + "."));
    }
    if (!after.unread().isEmpty()) {
      findings.add(unread(name, after.unread()));
    }
  }

  /** A class, some counters of which are not 0. */
  private static Finding finding(
      String port, CounterClass one, Map<String, Long> before, Map<String, Long> after) {
    StringJoiner counters = new StringJoiner(", ");
    boolean grows = false;
    for (Map.Entry<String, Long> counter : after.entrySet()) {
      long value = counter.getValue();
      long growth = value - before.getOrDefault(counter.getKey(), value);
      grows |= growth > 0;
      if (value > 0) {
        counters.add(
            counter.getKey()
                + "="
                + value
                + (growth > 0 ? String.format(Locale.ROOT, " (%+d)", growth) : ""));
      }
    }
    String words =
        String.format(Locale.ROOT, "%s, %s: %s. %s.", port, one.title(), one.meaning(), counters);
    return grows
        ? Finding.warning(words + " They grew while this command looked.", one.advice())
        : Finding.note(words + " They did not grow while this command looked.", one.advice());
  }

  /** A single counter with its meaning. */
  private static Finding finding(
      String port, CounterClass one, String counter, long before, long after) {
    String words =
        String.format(
            Locale.ROOT,
            "%s, %s: %s=%d (%+d): %s.",
            port,
            one.title(),
            counter,
            after,
            after - before,
            PortCounters.meaning(one, counter));
    if (after > before) {
      return Finding.warning(words, one.advice());
    }
    return after == 0 ? Finding.ok(words) : Finding.note(words, one.advice());
  }

  /** The classes of which nothing is known, by reason. */
  private static Finding unread(String port, Map<CounterClass, String> unread) {
    Map<String, StringJoiner> titles = new LinkedHashMap<>();
    unread.forEach(
        (one, reason) ->
            titles.computeIfAbsent(reason, key -> new StringJoiner(", ")).add(one.title()));
    StringJoiner words = new StringJoiner("; ", port + ": not read: ", ".");
    titles.forEach((reason, names) -> words.add(names + " (" + reason + ")"));
    return Finding.note(
        words.toString(),
        unread.containsValue(Ethtool.MISSING)
            ? "install ethtool and run this again; the switch has counters of the others"
            : "look at the counters of the switch");
  }
}
