// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import org.sparkrdma.shuffle.pinned.FileDescriptors;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.Mounts;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/**
 * Checks of the operating system, its limits and its directories. The engine's own reasons name
 * what lacks of libraries, modules, device files and permissions. Stateless.
 */
final class MachineChecks {
  /** About what the first connection needs; below that RDMA does not start. */
  private static final long MIN_LOCKED_BYTES = 1L << 20;

  /** An executor of a small application has about 200 files open. */
  private static final long MIN_FREE_FILES = 256;

  /** Each region of receive memory and of copies is a mapping of this length. */
  private static final long MAPPING_BYTES = 4L << 20;

  private static final String OTHER_DIRECTORY =
      "name another directory in spark.local.dir (SPARK_LOCAL_DIRS, or"
          + " yarn.nodemanager.local-dirs on YARN)";

  /** Kernel and Java. */
  static List<Finding> system(Facts facts) {
    return List.of(
        Finding.ok(
            String.format(
                Locale.ROOT,
                "Linux %s on %s, Java %s.",
                facts.files().text("proc/sys/kernel/osrelease").orElse("of unknown version"),
                System.getProperty("os.arch"),
                System.getProperty("java.version"))));
  }

  /** RLIMIT_MEMLOCK and CAP_IPC_LOCK, against what an executor may pin. */
  static List<Finding> lockedMemory(Facts facts) {
    PinnedLimit limit = facts.probe().limit();
    List<Finding> findings = new ArrayList<>();
    findings.add(
        Finding.ok(
            String.format(
                Locale.ROOT,
                "An executor may pin %d MiB: %s.",
                limit.bytes() >> 20,
                limit.derivation())));
    findings.add(memlock(facts, limit.neededBytes()));
    return findings;
  }

  private static Finding memlock(Facts facts, long neededBytes) {
    OptionalLong soft = facts.memory().lockableBytes();
    String words =
        "This process may lock "
            + (soft.isPresent() ? soft.getAsLong() + " bytes." : "memory without a limit.");
    if (soft.isEmpty() || soft.getAsLong() >= neededBytes) {
      return Finding.ok(words);
    }
    boolean tooLittle = soft.getAsLong() < MIN_LOCKED_BYTES;
    String needs =
        (tooLittle ? " That is too little for any RDMA" : " With less, more blocks use TCP")
            + ("; an executor uses up to " + neededBytes + " bytes (")
            + ((neededBytes >> 20) + " MiB).");
    Level level = tooLittle ? Level.PROBLEM : Level.WARNING;
    return new Finding(
        facts.loopback() ? Level.NOTE : level,
        words + needs,
        MachineMemory.memlockRemedy(neededBytes));
  }

  /** The limit of open files of this process, against what RDMA needs. */
  static List<Finding> openFiles(Facts facts) {
    OptionalLong free = FileDescriptors.free(facts.files());
    if (free.isEmpty()) {
      return List.of();
    }
    String words = "This process may open " + free.getAsLong() + " more files.";
    return List.of(
        free.getAsLong() >= MIN_FREE_FILES
            ? Finding.ok(words)
            : new Finding(
                free.getAsLong() >= FileDescriptors.NEEDED ? Level.WARNING : Level.PROBLEM,
                words + " An executor starts RDMA only with " + FileDescriptors.NEEDED + " free.",
                "let executors open 4096 files or more (ulimit -n)"));
  }

  /** Registered memory and connections are mappings; the kernel limits their number. */
  static List<Finding> mappings(Facts facts) {
    long needed = 4 * (facts.probe().limit().bytes() / MAPPING_BYTES);
    OptionalLong limit =
        SystemFiles.number(facts.files().text("proc/sys/vm/max_map_count").orElse(""));
    return limit.isEmpty() || limit.getAsLong() >= needed
        ? List.of()
        : List.of(
            Finding.warning(
                limit.getAsLong() + " mappings are too few for the memory that may be pinned.",
                "run: sysctl -w vm.max_map_count=" + needed));
  }

  /**
   * Whether Spark can write in each local directory, its file system, and whether a file there was
   * registered. Spark creates a directory that is missing, leaves out one in which it cannot write,
   * and ends an executor that has no other.
   */
  static List<Finding> localDirectories(Facts facts) {
    Mounts mounts = Mounts.of(facts.files());
    List<Finding> findings = new ArrayList<>();
    for (Path directory : Facts.localDirectories(facts.spark(), facts.environment())) {
      String words = directory + " is on " + mounts.holding(directory).type() + ".";
      Optional<String> refusal = facts.probe().directories().get(directory);
      if (!Files.exists(directory)) {
        findings.add(
            Finding.note(
                directory + " does not exist. Spark creates it.",
                "nothing, unless the name is mistyped"));
      } else if (!Files.isDirectory(directory) || !Files.isWritable(directory)) {
        findings.add(
            Finding.problem(
                "This user cannot write in " + directory + ", so Spark leaves it out.",
                OTHER_DIRECTORY));
      } else if (refusal == null) {
        findings.add(Finding.ok(words + " No file was registered there."));
      } else if (refusal.isEmpty()) {
        String details = facts.probe().details().getOrDefault(directory, "");
        findings.add(
            Finding.ok(
                (words + " A file there was registered")
                    + (details.isEmpty() ? "." : ": " + details + ".")));
      } else {
        findings.add(
            Finding.warning(
                words + " Files there are not registered, so blocks are copied: " + refusal.get(),
                "use ext4 or xfs for spark.local.dir, and a kernel that does not write registered"
                    + " files, such as Linux 6.2 and newer"));
      }
    }
    return findings;
  }

  /** An executor does not start RDMA where it cannot name one of its local directories. */
  static List<Finding> directoryNames(Facts facts) {
    return Facts.localDirectoryNames(facts.spark(), facts.environment())
        .filter(name -> Facts.path(name).isEmpty())
        .map(
            name ->
                Finding.problem(
                    "The locale of this process has no bytes for the local directory " + name + ".",
                    "run this and executors in a locale that has them (LC_ALL=C.UTF-8)"))
        .toList();
  }

  private MachineChecks() {}
}
