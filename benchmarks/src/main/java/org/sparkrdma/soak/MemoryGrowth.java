// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.sparkrdma.soak.MemorySnapshot.Moment;

/**
 * Growth of the native memory of one executor from the end of the warm-up to the end.
 *
 * @param fromSeconds time of the first snapshot, since the soak began
 * @param toSeconds time of the last snapshot
 * @param jobs number of jobs that were complete in between
 * @param categories committed memory of the JVM by category, largest growth first; empty when the
 *     JVM gave no account
 * @param totals committed memory of the JVM, kinds of resident pages, and the difference
 */
record MemoryGrowth(
    String executor,
    double fromSeconds,
    double toSeconds,
    int jobs,
    List<Row> categories,
    List<Row> totals) {

  /**
   * Growth of one kind of memory.
   *
   * @param perJobMib growth for each job; null when no job was complete in between
   */
  record Row(
      String memory,
      double fromMib,
      double toMib,
      @JsonInclude(JsonInclude.Include.NON_NULL) Double perJobMib) {

    static Row of(String memory, double fromMib, double toMib, int jobs) {
      return new Row(memory, fromMib, toMib, jobs == 0 ? null : (toMib - fromMib) / jobs);
    }

    @JsonProperty
    double growthMib() {
      return toMib - fromMib;
    }
  }

  /**
   * Compares the snapshots of each executor that is judged and has both.
   *
   * @param executors the executors that are judged
   */
  static List<MemoryGrowth> of(List<MemorySnapshot> all, List<LongLivedExecutor> executors) {
    List<MemoryGrowth> growths = new ArrayList<>();
    for (LongLivedExecutor each : executors) {
      Optional<MemorySnapshot> from = find(all, Moment.WARM_UP_END, each.executor());
      Optional<MemorySnapshot> to = find(all, Moment.END, each.executor());
      if (from.isPresent() && to.isPresent()) {
        growths.add(between(from.get(), to.get()));
      }
    }
    return growths;
  }

  private static Optional<MemorySnapshot> find(
      List<MemorySnapshot> all, Moment moment, String executor) {
    return all.stream()
        .filter(each -> each.moment() == moment && each.executor().equals(executor))
        .findFirst();
  }

  private static MemoryGrowth between(MemorySnapshot from, MemorySnapshot to) {
    int jobs = to.jobs() - from.jobs();
    boolean accounts = !from.committedMib().isEmpty() && !to.committedMib().isEmpty();
    return new MemoryGrowth(
        from.executor(),
        from.seconds(),
        to.seconds(),
        jobs,
        accounts ? categories(from.committedMib(), to.committedMib(), jobs) : List.of(),
        totals(from, to, jobs, accounts));
  }

  private static List<Row> categories(Map<String, Double> from, Map<String, Double> to, int jobs) {
    Set<String> names = new TreeSet<>(from.keySet());
    names.addAll(to.keySet());
    return names.stream()
        // The JVM leaves out categories below 1 KiB.
        .map(name -> Row.of(name, from.getOrDefault(name, 0.0), to.getOrDefault(name, 0.0), jobs))
        .sorted(Comparator.comparingDouble(Row::growthMib).reversed())
        .toList();
  }

  private static List<Row> totals(
      MemorySnapshot from, MemorySnapshot to, int jobs, boolean accounts) {
    ResidentPages before = from.pages();
    ResidentPages after = to.pages();
    double committedBefore = sum(from.committedMib());
    double committedAfter = sum(to.committedMib());
    List<Row> rows = new ArrayList<>();
    if (accounts) {
      rows.add(Row.of("the JVM's account", committedBefore, committedAfter, jobs));
    }
    rows.add(Row.of("anonymous pages", before.anonymousMib(), after.anonymousMib(), jobs));
    rows.add(Row.of("file-mapped pages", before.fileMib(), after.fileMib(), jobs));
    rows.add(Row.of("shared pages", before.sharedMib(), after.sharedMib(), jobs));
    if (accounts) {
      rows.add(
          Row.of(
              "not in the JVM's account",
              before.anonymousMib() - committedBefore,
              after.anonymousMib() - committedAfter,
              jobs));
    }
    return rows;
  }

  private static double sum(Map<String, Double> committedMib) {
    return committedMib.values().stream().mapToDouble(Double::doubleValue).sum();
  }
}
