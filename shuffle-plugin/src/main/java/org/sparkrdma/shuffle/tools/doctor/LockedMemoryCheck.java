// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import org.sparkrdma.shuffle.pinned.FileDescriptors;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.MemlockRemedy;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

/** RLIMIT_MEMLOCK, soft and hard, and CAP_IPC_LOCK, against the memory that an executor may pin. */
final class LockedMemoryCheck {
  private static final String LINE = "Max locked memory";

  /** About what the first connection needs; below that RDMA does not start. */
  private static final long MIN_BYTES = 1L << 20;

  /** Executors of a small application have about 200 files open, so RDMA would start late. */
  private static final long FEW_DESCRIPTORS = 512;

  private static final long SLAB_BYTES = 4L << 20;

  static List<Finding> run(Facts facts) {
    PinnedLimit limit = facts.probe().limit();
    List<Finding> findings = new ArrayList<>();
    if (facts.loopback() || !isTooLittle(facts.memory())) {
      findings.add(
          Finding.ok(
              String.format(
                  Locale.ROOT,
                  "An executor may pin %d MiB: %s.",
                  limit.bytes() >> 20,
                  limit.derivation())));
      if (isClusterManagerUnknown(facts.spark())) {
        findings.add(
            Finding.note(
                "spark.master is not set: the limit of spark.executor.memoryOverhead on YARN and"
                    + " Kubernetes is not considered.",
                "on YARN and Kubernetes add spark.master to the file of --conf, because an executor may"
                    + " pin less there"));
      }
    }
    limit
        .warnings()
        .forEach(
            warning ->
                findings.add(
                    Finding.warning(warning + ".", "lower spark.shuffle.rdma.pinned.max")));
    findings.add(limit(facts, limit.neededBytes()));
    FileDescriptors.limit(facts.files()).ifPresent(most -> findings.add(descriptors(facts, most)));
    mappings(facts, limit.bytes()).ifPresent(findings::add);
    return findings;
  }

  private static Finding descriptors(Facts facts, long limit) {
    String words =
        "This process may have "
            + limit
            + " files open; an executor with RDMA has about "
            + FileDescriptors.HELD
            + " more open than one without, and starts RDMA only when "
            + FileDescriptors.NEEDED
            + " are free.";
    return limit >= FEW_DESCRIPTORS
        ? Finding.ok(words)
        : facts.against(words, "raise the limit of the executors (ulimit -n) to 4096 or more");
  }

  /** Empty where there is room: each slab of receive memory is a mapping of its own. */
  private static Optional<Finding> mappings(Facts facts, long pinnedBytes) {
    long slabs = pinnedBytes / SLAB_BYTES;
    OptionalLong most =
        SystemFiles.number(facts.files().text("proc/sys/vm/max_map_count").orElse(""));
    return facts.loopback() || most.isEmpty() || slabs < most.getAsLong() / 2
        ? Optional.empty()
        : Optional.of(
            Finding.warning(
                "A process may have "
                    + most.getAsLong()
                    + " mappings (vm.max_map_count); the memory that an executor may pin can take "
                    + slabs
                    + ".",
                "raise it: sysctl -w vm.max_map_count=" + 4 * slabs));
  }

  private static Finding limit(Facts facts, long neededBytes) {
    MachineMemory memory = facts.memory();
    OptionalLong soft = memory.lockableBytes();
    String words =
        String.format(
            Locale.ROOT,
            "This process may lock %s bytes (soft limit), at most %s (hard limit).",
            inWords(soft),
            hard(facts));
    if (memory.locksUnlimited()) {
      return Finding.ok(words + " They do not apply: it has the capability CAP_IPC_LOCK.");
    }
    if (soft.isEmpty() || soft.getAsLong() >= neededBytes) {
      return Finding.ok(words);
    }
    String advice = MemlockRemedy.sentences(facts.environment(), facts.files().root(), neededBytes);
    String needed = neededBytes + " bytes (" + (neededBytes >> 20) + " MiB)";
    if (isTooLittle(memory)) {
      return facts.against(
          words + " That is too little for any RDMA; an executor uses up to " + needed + ".",
          advice);
    }
    String few = words + " An executor uses up to " + needed + "; with less, more blocks use TCP.";
    return facts.loopback() ? Finding.note(few, advice) : Finding.warning(few, advice);
  }

  /** False without any settings, because {@link SettingsCheck} says that there are none. */
  private static boolean isClusterManagerUnknown(SparkSettings spark) {
    return !spark.isUnknown() && spark.value("spark.master", "").isBlank();
  }

  private static boolean isTooLittle(MachineMemory memory) {
    OptionalLong soft = memory.lockableBytes();
    return !memory.locksUnlimited() && soft.isPresent() && soft.getAsLong() < MIN_BYTES;
  }

  private static String inWords(OptionalLong limit) {
    return limit.isPresent() ? Long.toString(limit.getAsLong()) : "unlimited";
  }

  /** The second value of the line in /proc/self/limits. */
  private static String hard(Facts facts) {
    for (String line : facts.files().lines("proc/self/limits")) {
      if (line.startsWith(LINE)) {
        String[] values = line.substring(LINE.length()).trim().split("\\s+", -1);
        return values.length > 1 ? values[1] : "unknown";
      }
    }
    return "unknown";
  }

  private LockedMemoryCheck() {}
}
