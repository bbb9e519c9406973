// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.device.OpenResources;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * Compares the process before and after a test: file descriptors, threads, mappings and files of
 * the engine.
 */
final class LeakCheck {
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final Path MAPS = Path.of("/proc/self/maps");
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final long PAUSE_NS = 10_000_000;

  private final EngineUnderTest engine;
  private final long descriptors;
  private final Set<Thread> threads;
  private final long mappings;
  private final long files;

  private LeakCheck(EngineUnderTest engine) {
    this.engine = engine;
    descriptors = descriptors();
    threads = threads();
    mappings = mappings();
    files = files();
  }

  /** Records descriptors, threads, mappings and files before a test. */
  static LeakCheck before(EngineUnderTest engine) {
    openDescriptorsKeptByTheJdk();
    openDescriptorsKeptByLibraries(engine);
    return new LeakCheck(engine);
  }

  /** The JDK opens a socket at the first close of a channel and keeps it. */
  private static void openDescriptorsKeptByTheJdk() {
    try {
      SocketChannel.open().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** librdmacm opens each device at its first use and keeps it open until the process ends. */
  private static void openDescriptorsKeptByLibraries(EngineUnderTest engine) {
    Verbs.choose(engine.name(), EngineSettings.of(engine.settings())).engine().close();
  }

  /** Fails when a resource is open on a closed device. */
  void checkClosed(Device device) {
    assertThat(device.openResources()).isEqualTo(OpenResources.NONE);
  }

  /** Waits until the counts are as before the test, at most {@link #TIMEOUT}. */
  void check() {
    awaitUnchanged("threads", () -> newThreads().size(), 0);
    awaitUnchanged("file descriptors", this::descriptors, descriptors);
    awaitUnchanged("files", this::files, files);
    awaitUnchanged("mappings", this::mappings, mappings);
  }

  private void awaitUnchanged(String what, LongSupplier now, long before) {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (now.getAsLong() > before && System.nanoTime() - deadline < 0) {
      // Mappings are removed when their buffers are collected.
      System.gc();
      LockSupport.parkNanos(PAUSE_NS);
    }
    assertThat(now.getAsLong())
        .as("leaked %s; threads=%s descriptors=%s", what, newThreads(), openDescriptors())
        .isLessThanOrEqualTo(before);
  }

  /** Sockets, event descriptors and the engine's files; class loading opens others. */
  private long descriptors() {
    return openDescriptors().size();
  }

  private List<String> openDescriptors() {
    try (Stream<Path> open = Files.list(DESCRIPTORS)) {
      return open.map(LeakCheck::target).filter(this::isEngineDescriptor).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean isEngineDescriptor(String target) {
    return target.startsWith("socket:")
        || target.startsWith("anon_inode:")
        || target.startsWith(engine.mappedPath().toString());
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "";
    }
  }

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !isJdkThread(thread.getName()))
        .collect(Collectors.toSet());
  }

  private List<Thread> newThreads() {
    return threads().stream().filter(thread -> !threads.contains(thread)).toList();
  }

  /** Threads of test time-outs, child processes and debuggers start and end at any time. */
  private static boolean isJdkThread(String name) {
    return name.startsWith("junit-")
        || name.startsWith("process reaper")
        || name.startsWith("ForkJoinPool.commonPool-worker")
        || name.equals("Attach Listener");
  }

  private long mappings() {
    try (Stream<String> lines = Files.lines(MAPS)) {
      return lines.filter(line -> line.contains(engine.mappedPath().toString())).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Number of files in the engine's directory. */
  private long files() {
    if (!Files.isDirectory(engine.mappedPath())) {
      return 0;
    }
    try (Stream<Path> files = Files.list(engine.mappedPath())) {
      return files.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
