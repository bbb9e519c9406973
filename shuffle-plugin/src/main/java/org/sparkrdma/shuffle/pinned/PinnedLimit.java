// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.StringJoiner;
import org.sparkrdma.shuffle.settings.ShuffleSetting;

/**
 * Maximum memory that an executor pins, and its derivation: so little that neither the host runs
 * out of memory nor the executor's container is killed.
 *
 * @param bytes the limit
 * @param derivation one sentence for the log
 * @param neededBytes the limit without RLIMIT_MEMLOCK
 */
public record PinnedLimit(long bytes, String derivation, long neededBytes) {
  private static final long MIN_BYTES = 1L << 20;

  /** All executors of a host or container together pin at most 1/4 of its memory. */
  private static final int PART = 4;

  /** Part of memoryOverhead for metaspace, code cache, thread stacks and Netty's buffers. */
  private static final long JVM_BYTES = 256L << 20;

  /** The limit assumes at least two executors on a host. */
  private static final int MIN_EXECUTORS = 2;

  private static final String OVERHEAD = "spark.executor.memoryOverhead";

  /** One of the limits of which the lowest counts. */
  private record Bound(String what, long bytes) {
    @Override
    public String toString() {
      return what + ": " + (bytes >> 20) + " MiB";
    }
  }

  /**
   * Takes the user's setting, or else the minimum of the machine's limits.
   *
   * @param set the user's setting; empty to derive it
   * @param shared free memory that a loopback engine shares with its peers; empty for hardware, for
   *     which RLIMIT_MEMLOCK is charged
   */
  public static PinnedLimit of(
      Optional<Long> set, MachineMemory machine, SparkMemory spark, OptionalLong shared) {
    String owner = machine.contained() ? "the container limit" : "host memory";
    int executors = spark.executorsOn(machine);
    int possible = Math.max(MIN_EXECUTORS, executors);
    long taken = machine.heapBytes() + spark.offHeapBytes();
    long outside = Math.max(0, machine.bytes() / executors - taken);
    List<Bound> bounds = new ArrayList<>();
    if (!spark.ownsContainer(machine)) {
      bounds.add(
          new Bound(
              "1/" + PART + " of " + owner + " shared by executors=" + possible,
              machine.bytes() / ((long) PART * possible)));
    }
    bounds.add(
        new Bound("1/2 of " + owner + " outside the heaps of executors=" + executors, outside / 2));
    if (spark.overheadBytes().isPresent()) {
      long above = Math.max(0, spark.overheadBytes().getAsLong() - JVM_BYTES);
      bounds.add(
          new Bound(
              ("1/" + spark.overheadPart() + " of " + OVERHEAD)
                  + (" above " + (JVM_BYTES >> 20) + " MiB")
                  + (spark.besideNative() ? " (the rest is for another engine)" : "")
                  + (spark.shared() ? " (Spark's default; the rest is for Python or RocksDB)" : ""),
              above / spark.overheadPart()));
    }
    if (shared.isPresent()) {
      bounds.add(
          new Bound(
              "1/2 of free shared memory (soft.directory) for executors=" + executors,
              shared.getAsLong() / (2L * executors)));
    }
    long needed = lowest(bounds);
    OptionalLong lockable = machine.lockableBytes();
    if (lockable.isPresent() && shared.isEmpty()) {
      bounds.add(new Bound("RLIMIT_MEMLOCK", lockable.getAsLong()));
    }
    StringJoiner derivation = new StringJoiner(", ", "the minimum of: ", "");
    for (Bound bound : bounds) {
      derivation.add(bound.toString());
    }
    if (set.isPresent()) {
      String chosen = "set by " + ShuffleSetting.PINNED_MAX.key() + ", instead of " + derivation;
      return new PinnedLimit(set.get(), chosen, set.get());
    }
    return new PinnedLimit(lowest(bounds), derivation.toString(), needed);
  }

  private static long lowest(List<Bound> bounds) {
    return Math.max(MIN_BYTES, bounds.stream().mapToLong(Bound::bytes).min().orElseThrow());
  }
}
