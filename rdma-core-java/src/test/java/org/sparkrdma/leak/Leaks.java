// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.leak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.device.OpenResources;

/**
 * What was there at one moment, to tell later what is left of what came after: noted objects, our
 * threads, and the loopback engine's descriptors and mappings.
 */
public final class Leaks {
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final Path MAPS = Path.of("/proc/self/maps");
  private static final List<String> OUR_THREADS = List.of("rdma-", "soft-rdma-");
  private static final String OUR_FILES = "/sparkrdma-soft-";
  private static final int MOST_FRAMES = 15;
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final long PAUSE_NS = 50_000_000;

  private final Set<LeakRecord> before = new HashSet<>(LeakRecord.outstanding());
  private final Set<Thread> threads = ourThreads();
  private final int descriptors = descriptors().size();
  private final int mappings = mappings().size();

  private Leaks() {}

  /** Notes how things are. */
  public static Leaks since() {
    return new Leaks();
  }

  /**
   * Waits a little for objects, threads and descriptors to be as they were.
   *
   * @throws AssertionError naming what is left and where it was acquired
   */
  public void check() {
    check(PATIENCE, this::left);
  }

  /**
   * The same of mappings, which on Java 17 stay until the collector has found that no buffer is
   * over them any more: when nothing of the test is held.
   */
  public void checkMappings() {
    check(PATIENCE, this::mappingsLeft);
  }

  void checkNow() {
    check(Duration.ZERO, this::left);
  }

  void checkMappingsNow() {
    check(Duration.ZERO, this::mappingsLeft);
  }

  private static void check(Duration patience, Supplier<List<String>> look) {
    long start = System.nanoTime();
    List<String> left = look.get();
    while (!left.isEmpty() && System.nanoTime() - start < patience.toNanos()) {
      System.gc();
      LockSupport.parkNanos(PAUSE_NS);
      left = look.get();
    }
    if (!left.isEmpty()) {
      throw new AssertionError("left behind: " + String.join("\n", left));
    }
  }

  private List<String> left() {
    List<String> left = new ArrayList<>();
    newRecords().forEach(each -> left.add(text(each)));
    newThreads().forEach(each -> left.add(text(each)));
    left.addAll(beyond(descriptors, "descriptors", descriptors()));
    return left;
  }

  private List<String> mappingsLeft() {
    return beyond(mappings, "mappings", mappings());
  }

  /**
   * Of an open device whose user is done.
   *
   * @throws AssertionError when anything is open on it, naming all that is out in this process
   */
  public static void checkNothingOpen(Device device) {
    OpenResources open = device.openResources();
    if (!open.equals(OpenResources.NONE)) {
      throw new AssertionError(
          "left open: %s%n%s"
              .formatted(
                  open,
                  String.join("\n", LeakRecord.outstanding().stream().map(Leaks::text).toList())));
    }
  }

  private List<LeakRecord> newRecords() {
    return LeakRecord.outstanding().stream().filter(each -> !before.contains(each)).toList();
  }

  private List<Thread> newThreads() {
    return ourThreads().stream().filter(each -> !threads.contains(each)).toList();
  }

  private static Set<Thread> ourThreads() {
    Set<Thread> ours = new HashSet<>(Thread.getAllStackTraces().keySet());
    ours.removeIf(thread -> OUR_THREADS.stream().noneMatch(thread.getName()::startsWith));
    return ours;
  }

  private static List<String> beyond(int before, String what, List<String> now) {
    return now.size() <= before
        ? List.of()
        : List.of("%s: %d, were %d: %s".formatted(what, now.size(), before, now));
  }

  private static List<String> descriptors() {
    try (Stream<Path> open = Files.list(DESCRIPTORS)) {
      return open.map(Leaks::target).filter(Leaks::isOurs).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> mappings() {
    try (Stream<String> lines = Files.lines(MAPS)) {
      return lines.filter(Leaks::isOurs).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isOurs(String name) {
    return name.contains(OUR_FILES);
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      // Closed meanwhile, as the one that listed the directory.
      return "";
    }
  }

  private static String text(LeakRecord leakRecord) {
    return leakRecord.site().getMessage() + text(leakRecord.site().getStackTrace());
  }

  private static String text(Thread thread) {
    return "thread " + thread.getName() + " runs" + text(thread.getStackTrace());
  }

  private static String text(StackTraceElement[] stack) {
    return Arrays.stream(stack)
        .limit(MOST_FRAMES)
        .map(frame -> "\n\tat " + frame)
        .collect(Collectors.joining());
  }
}
