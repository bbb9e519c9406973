// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.sparkrdma.shuffle.settings.ShuffleSetting;

/**
 * Maximum memory that an executor pins, and its derivation.
 *
 * @param bytes the limit
 * @param derivation one sentence for the log
 * @param neededBytes the limit without RLIMIT_MEMLOCK
 * @param warnings reasons why the user's limit is too large, a sentence each
 */
public record PinnedLimit(long bytes, String derivation, long neededBytes, List<String> warnings) {
  private static final long MIN_BYTES = 1L << 20;

  /** Assumed memory of a host that does not report it. */
  private static final long UNKNOWN_HOST_BYTES = 8L << 30;

  /** All executors of a host together pin at most 1/4 of its memory. */
  private static final int HOST_PART = 4;

  /** Part of memoryOverhead for metaspace, code cache, thread stacks and Netty's buffers. */
  private static final long JVM_BYTES = 256L << 20;

  /** The limit assumes at least two executors on a host. */
  private static final int MIN_EXECUTORS = 2;

  /**
   * Takes the user's setting, or else the minimum of the machine's limits.
   *
   * @param set the user's setting; empty to derive it
   * @param hardware whether RLIMIT_MEMLOCK is charged, as for all hardware devices
   */
  public static PinnedLimit of(
      Optional<Long> set, MachineMemory machine, SparkMemory spark, boolean hardware) {
    Derivation derived = new Derivation();
    MachineMemory shared = spark.ownContainer() ? machine : machine.withinContainer();
    String owner = shared.equals(machine) ? "host memory" : "the container limit";
    int running = spark.executorsOn(shared);
    if (!shared.equals(machine)) {
      running = Math.min(running, fitting(shared, machine, spark));
    }
    int executors = Math.max(MIN_EXECUTORS, running);
    long part = shared.physicalBytes().orElse(UNKNOWN_HOST_BYTES) / ((long) HOST_PART * executors);
    derived.consider(
        "1/" + HOST_PART + " of " + owner + " shared by executors=" + executors + ":", part);
    if (shared.physicalBytes().isPresent()) {
      derived.consider(
          "1/2 of " + owner + " outside the heaps of executors=" + running + ":",
          remainder(shared.physicalBytes().getAsLong(), running, machine, spark) / 2);
    }
    int inContainer = spark.ownContainer() ? 1 : running;
    OptionalLong left = containerRemainder(machine, spark, inContainer);
    if (spark.ownContainer() && left.isPresent()) {
      derived.consider("1/2 of the container limit outside the heap:", left.getAsLong() / 2);
    }
    if (spark.overheadBytes().isPresent()) {
      derived.consider(
          "1/2 of " + spark.overheadName() + " above " + megabytes(JVM_BYTES) + ":",
          Math.max(0, spark.overheadBytes().getAsLong() - JVM_BYTES) / 2);
    }
    long needed = Math.max(derived.minimum, MIN_BYTES);
    OptionalLong lockable = hardware ? machine.memlockLimit() : OptionalLong.empty();
    if (set.isPresent()) {
      return new PinnedLimit(
          set.get(),
          "set by " + ShuffleSetting.PINNED_MAX.key(),
          set.get(),
          warnings(set.get(), left, inContainer, spark, lockable));
    }
    if (lockable.isPresent()) {
      derived.consider("RLIMIT_MEMLOCK:", lockable.getAsLong());
    } else if (hardware && machine.locksUnlimited()) {
      derived.text.append("; RLIMIT_MEMLOCK does not apply: the process has CAP_IPC_LOCK");
    }
    if (derived.minimum < MIN_BYTES) {
      derived.text.append("; raised to the least allowed value, ").append(megabytes(MIN_BYTES));
    }
    return new PinnedLimit(
        Math.max(derived.minimum, MIN_BYTES), derived.text.toString(), needed, List.of());
  }

  /**
   * Number of executors whose heaps fit into a container. A host with more of them has others in
   * other containers.
   */
  private static int fitting(MachineMemory container, MachineMemory machine, SparkMemory spark) {
    long each = Math.max(1, machine.heapBytes() + spark.offHeapBytes());
    long fit = container.physicalBytes().orElse(UNKNOWN_HOST_BYTES) / each;
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, fit));
  }

  /** Memory for each executor outside heap and off-heap memory. */
  private static long remainder(
      long bytes, int executors, MachineMemory machine, SparkMemory spark) {
    long taken = executors * (machine.heapBytes() + spark.offHeapBytes());
    return Math.max(0, bytes - taken) / executors;
  }

  private static OptionalLong containerRemainder(
      MachineMemory machine, SparkMemory spark, int executors) {
    return machine.containerBytes().isEmpty()
        ? OptionalLong.empty()
        : OptionalLong.of(
            remainder(machine.containerBytes().getAsLong(), executors, machine, spark));
  }

  private static List<String> warnings(
      long set, OptionalLong left, int executors, SparkMemory spark, OptionalLong lockable) {
    List<String> warnings = new ArrayList<>();
    String given = ShuffleSetting.PINNED_MAX.key() + "=" + set + " exceeds ";
    if (left.isPresent() && set > left.getAsLong()) {
      warnings.add(
          given
              + "the "
              + left.getAsLong()
              + " bytes of the container limit outside heap and off-heap memory"
              + (executors == 1 ? "" : ", for each of executors=" + executors)
              + ": the container may be killed");
    }
    OptionalLong overhead = spark.overheadBytes();
    if (overhead.isPresent() && set > overhead.getAsLong()) {
      warnings.add(
          given
              + spark.overheadName()
              + "="
              + overhead.getAsLong()
              + " bytes: the cluster manager may kill the container");
    }
    if (lockable.isPresent() && set > lockable.getAsLong()) {
      warnings.add(given + "RLIMIT_MEMLOCK=" + lockable.getAsLong() + ": blocks beyond it use TCP");
    }
    return List.copyOf(warnings);
  }

  private static String megabytes(long bytes) {
    return (bytes >> 20) + " MiB";
  }

  /** Minimum of several values, with their description. */
  private static final class Derivation {
    private final StringBuilder text = new StringBuilder("the minimum of: ");
    private long minimum = Long.MAX_VALUE;

    void consider(String what, long bytes) {
      if (minimum != Long.MAX_VALUE) {
        text.append(", ");
      }
      text.append(what).append(' ').append(megabytes(bytes));
      minimum = Math.min(minimum, bytes);
    }
  }
}
