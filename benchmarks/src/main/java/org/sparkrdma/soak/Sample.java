// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import com.fasterxml.jackson.annotation.JsonValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Measures of one process at one time, from the kernel's counts.
 *
 * @param seconds since the soak began
 * @param executor the executor's id; for the processes beside them "Worker", and "SparkSubmit" for
 *     the driver
 */
record Sample(double seconds, String executor, long pid, Map<Measure, Double> values) {
  private static final Pattern NAME =
      Pattern.compile(
          "\0(?:--executor-id\0|org[.]apache[.]spark[.]deploy[.](?:worker[.])?)(\\w+)\0");
  private static final Pattern HEAP = Pattern.compile("\0-Xmx([0-9]+)[mM]\0");
  private static final String RESIDENT = "VmRSS:";
  private static final double KIB_PER_MIB = 1024;

  /** First 15 characters of block-manager-storage-async-thread-pool-…, as the kernel has them. */
  private static final String STORAGE_POOL = "block-manager-s";

  /** Empty when the process has ended or is none of them. */
  static Optional<Sample> take(long pid, double seconds) {
    return take(Path.of("/proc", Long.toString(pid)), pid, seconds);
  }

  static Optional<Sample> take(Path process, long pid, double seconds) {
    try {
      String commandLine =
          Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
      Matcher name = NAME.matcher(commandLine);
      Matcher heap = HEAP.matcher(commandLine);
      if (!name.find() || !heap.find()) {
        return Optional.empty();
      }
      int heapMib = Integer.parseInt(heap.group(1));
      Map<Measure, Double> values = new EnumMap<>(Measure.class);
      values.put(Measure.NATIVE_MIB, residentMib(process) - heapMib);
      List<String> threads = threadNames(process.resolve("task"));
      long storage = threads.stream().filter(STORAGE_POOL::equals).count();
      values.put(Measure.THREADS, (double) (threads.size() - storage));
      values.put(Measure.STORAGE_THREADS, (double) storage);
      values.put(Measure.DESCRIPTORS, (double) entries(process.resolve("fd")));
      values.put(Measure.MAPPINGS, (double) lines(process.resolve("maps")));
      return Optional.of(new Sample(seconds, name.group(1), pid, values));
    } catch (IOException e) {
      // The process has ended.
      return Optional.empty();
    }
  }

  /** Resident memory, from the kernel's file {@code status}, see proc(5). */
  private static double residentMib(Path process) throws IOException {
    for (String line : Files.readAllLines(process.resolve("status"))) {
      if (line.startsWith(RESIDENT)) {
        String kib = line.substring(RESIDENT.length()).strip().split(" ", -1)[0];
        return Double.parseDouble(kib) / KIB_PER_MIB;
      }
    }
    throw new IOException("the process has ended");
  }

  /** The kernel's names of the threads that have not ended since they were listed. */
  static List<String> threadNames(Path tasks) throws IOException {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        try {
          names.add(Files.readString(thread.resolve("comm"), StandardCharsets.ISO_8859_1).strip());
        } catch (NoSuchFileException e) {
          // The thread has ended since it was listed.
        }
      }
    }
    return names;
  }

  private static long entries(Path directory) throws IOException {
    try (Stream<Path> open = Files.list(directory)) {
      return open.count();
    }
  }

  private static long lines(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
      return lines.count();
    }
  }

  /** A measured quantity of an executor's process, with the growth that counts as flat. */
  enum Measure {
    /** Resident memory without the heap, in MiB: the heap is resident from the start to the end. */
    NATIVE_MIB(24),
    /** Open file descriptors. */
    DESCRIPTORS(12),
    /** Threads without those of {@link #STORAGE_THREADS}. */
    THREADS(6),
    /**
     * Threads of Spark's storage endpoint, printed but not judged. Spark starts one for each
     * deletion, at most a hundred, and each ends after a minute without work. Their number depends
     * on recent deletions only.
     */
    STORAGE_THREADS,
    /**
     * Entries of the process's memory map: regions, mapped files, stacks, arenas. After a time with
     * many threads glibc keeps 40 MiB of their stacks (stack_cache_maxsize of its nptl): 40 stacks
     * of two entries.
     */
    MAPPINGS(100);

    /** Allowed growth, as a fraction of the first median. */
    static final double ALLOWED_PART = 0.1;

    private final boolean judged;
    private final int allowedUnits;

    Measure() {
      judged = false;
      allowedUnits = 0;
    }

    Measure(int allowedUnits) {
      judged = true;
      this.allowedUnits = allowedUnits;
    }

    /** Whether a soak fails when this measure grows. */
    boolean isJudged() {
      return judged;
    }

    /** Allowed growth in units of the measure; larger than the fraction for small values. */
    int allowedUnits() {
      return allowedUnits;
    }

    /** The name in table and report. */
    @JsonValue
    @Override
    public String toString() {
      return this == STORAGE_THREADS
          ? "Spark's storage threads"
          : name().toLowerCase(Locale.ROOT).replace('_', ' ').replace("mib", "MiB");
    }
  }
}
