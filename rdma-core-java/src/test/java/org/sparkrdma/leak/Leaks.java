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
 * A snapshot of recorded objects, threads of this project, and descriptors and mappings of the
 * loopback engine. A later check reports everything that was added since and is still there.
 */
public final class Leaks {
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final Path MAPS = Path.of("/proc/self/maps");
  private static final List<String> THREAD_PREFIXES = List.of("rdma-", "soft-rdma-");
  private static final String SOFT_FILES = "/sparkrdma-soft-";
  private static final List<String> OF_ENGINES = List.of("socket:", "anon_inode:");
  private static final int MAX_FRAMES = 15;
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final long FIRST_PAUSE_NS = 1_000_000;
  private static final long PAUSE_NS = 16 * FIRST_PAUSE_NS;

  /** The files of an engine; null for those of the loopback engine, wherever they are. */
  private final Path engine;

  private final Set<LeakRecord> before = new HashSet<>(LeakRecord.outstanding());
  private final Set<Thread> threads = projectThreads();
  private final int descriptors;
  private final int mappings;
  private final int files;

  private Leaks(Path engine) {
    this.engine = engine;
    descriptors = descriptors().size();
    mappings = mappings().size();
    files = files().size();
  }

  /** Records the present state. */
  public static Leaks snapshot() {
    return new Leaks(null);
  }

  /**
   * The same where only an engine uses sockets and event descriptors, which count, too.
   *
   * @param files directory of its files, or the beginning of their paths
   */
  public static Leaks ofEngine(Path files) {
    return new Leaks(files);
  }

  /**
   * Waits until all newer objects, threads and descriptors are gone, at most {@link #TIMEOUT}.
   *
   * @throws AssertionError naming each leak and the code that acquired it
   */
  public void check() {
    check(TIMEOUT, FIRST_PAUSE_NS, this::left);
  }

  /**
   * The same for mappings. On Java 17 a mapping stays until the garbage collector has found that no
   * buffer uses it, so the test must hold no buffer.
   */
  public void checkMappings() {
    check(TIMEOUT, PAUSE_NS, this::mappingsLeft);
  }

  void checkNow() {
    check(Duration.ZERO, PAUSE_NS, this::left);
  }

  void checkMappingsNow() {
    check(Duration.ZERO, PAUSE_NS, this::mappingsLeft);
  }

  /** Most leaks are threads that end right now; only what is left later needs the collector. */
  private static void check(Duration patience, long firstPauseNs, Supplier<List<String>> look) {
    long start = System.nanoTime();
    long pauseNs = firstPauseNs;
    List<String> left = look.get();
    while (!left.isEmpty() && System.nanoTime() - start < patience.toNanos()) {
      if (pauseNs >= PAUSE_NS) {
        System.gc();
      }
      LockSupport.parkNanos(pauseNs);
      pauseNs = Math.min(2 * pauseNs, PAUSE_NS);
      left = look.get();
    }
    if (!left.isEmpty()) {
      throw new AssertionError("leaked: " + String.join("\n", left));
    }
  }

  private List<String> left() {
    List<String> left = new ArrayList<>();
    newRecords().forEach(each -> left.add(text(each)));
    newThreads().forEach(each -> left.add(text(each)));
    left.addAll(added(descriptors, "descriptors", descriptors()));
    left.addAll(added(files, "files", files()));
    return left;
  }

  private List<String> mappingsLeft() {
    return added(mappings, "mappings", mappings());
  }

  /**
   * Checks an open device whose user has closed everything.
   *
   * @throws AssertionError when an object is open on it, naming all outstanding objects of this
   *     process
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
    return projectThreads().stream().filter(each -> !threads.contains(each)).toList();
  }

  private static Set<Thread> projectThreads() {
    Set<Thread> ours = new HashSet<>(Thread.getAllStackTraces().keySet());
    ours.removeIf(thread -> THREAD_PREFIXES.stream().noneMatch(thread.getName()::startsWith));
    return ours;
  }

  private static List<String> added(int before, String what, List<String> now) {
    return now.size() <= before
        ? List.of()
        : List.of("%s: %d, before the test %d: %s".formatted(what, now.size(), before, now));
  }

  private List<String> descriptors() {
    try (Stream<Path> open = Files.list(DESCRIPTORS)) {
      return open.map(Leaks::target)
          .filter(name -> isOurs(name) || engine != null && isOfEngines(name))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<String> mappings() {
    try (Stream<String> lines = Files.lines(MAPS)) {
      return lines.filter(this::isOurs).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<String> files() {
    if (engine == null || !Files.isDirectory(engine)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(engine)) {
      return files.map(Path::toString).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean isOurs(String name) {
    return name.contains(engine == null ? SOFT_FILES : engine.toString());
  }

  private static boolean isOfEngines(String name) {
    return OF_ENGINES.stream().anyMatch(name::startsWith);
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      // Closed in the meantime, as the descriptor that listed the directory.
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
        .limit(MAX_FRAMES)
        .map(frame -> "\n\tat " + frame)
        .collect(Collectors.joining());
  }
}
