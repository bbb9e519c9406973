// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * Memory limits of this process, as the system reports them.
 *
 * @param physicalBytes of the host
 * @param containerBytes minimum limit of its control groups; empty for none
 * @param lockableBytes RLIMIT_MEMLOCK, see getrlimit(2); empty for unlimited
 * @param locksUnlimited whether that limit does not apply: CAP_IPC_LOCK, see capabilities(7)
 * @param heapBytes maximum size of the Java heap
 * @param pageBytes of a page
 * @param processors that this process may use
 * @param executors number of executors that run on this host now, at least 1
 */
public record MachineMemory(
    OptionalLong physicalBytes,
    OptionalLong containerBytes,
    OptionalLong lockableBytes,
    boolean locksUnlimited,
    long heapBytes,
    long pageBytes,
    int processors,
    int executors) {
  private static final long AT_PAGESZ = 6;
  private static final long COMMON_PAGE_BYTES = 4_096;
  private static final int CAP_IPC_LOCK = 14;
  private static final int HEX = 16;
  private static final String ALL_USERS = "0 0 4294967295";

  /** Reads the limits of this process. */
  public static MachineMemory current() {
    Runtime runtime = Runtime.getRuntime();
    return under(Path.of("/"), runtime.maxMemory(), runtime.availableProcessors());
  }

  /** Reads the system's files under a root directory; unreadable values are empty. */
  public static MachineMemory under(Path root, long heapBytes, int processors) {
    SystemFiles files = new SystemFiles(root);
    OptionalLong physical = OptionalLong.empty();
    for (String line : files.lines("proc/meminfo")) {
      if (line.startsWith("MemTotal:")) {
        OptionalLong kibibytes = SystemFiles.number(line);
        physical = OptionalLong.of(kibibytes.orElse(0) * 1024);
      }
    }
    return new MachineMemory(
        physical,
        new ControlGroups(files).minLimit(),
        lockable(files),
        locksUnlimited(files),
        heapBytes,
        pageBytes(root),
        processors,
        RunningExecutors.count(root));
  }

  /** RLIMIT_MEMLOCK if it applies, else empty. */
  public OptionalLong memlockLimit() {
    return locksUnlimited ? OptionalLong.empty() : lockableBytes;
  }

  /** Takes the container's limit as the memory of the host where it is lower. */
  MachineMemory withinContainer() {
    if (containerBytes.isEmpty()
        || containerBytes.getAsLong() >= physicalBytes.orElse(Long.MAX_VALUE)) {
      return this;
    }
    return new MachineMemory(
        containerBytes,
        containerBytes,
        lockableBytes,
        locksUnlimited,
        heapBytes,
        pageBytes,
        processors,
        executors);
  }

  private static OptionalLong lockable(SystemFiles files) {
    String name = "Max locked memory";
    for (String line : files.lines("proc/self/limits")) {
      if (line.startsWith(name)) {
        // Soft before hard limit; the soft one may be "unlimited".
        String soft = line.substring(name.length()).trim().split("\\s+", 2)[0];
        return SystemFiles.number(soft);
      }
    }
    return OptionalLong.empty();
  }

  /**
   * The kernel checks the capability in the initial user namespace, where all users are mapped. A
   * kernel without user namespaces has no such file.
   */
  private static boolean locksUnlimited(SystemFiles files) {
    List<String> users = files.lines("proc/self/uid_map");
    if (!users.isEmpty()
        && users.stream()
            .noneMatch(line -> line.trim().replaceAll("\\s+", " ").equals(ALL_USERS))) {
      return false;
    }
    for (String line : files.lines("proc/self/status")) {
      if (line.startsWith("CapEff:")) {
        try {
          long mask = Long.parseUnsignedLong(line.substring("CapEff:".length()).trim(), HEX);
          return ((mask >> CAP_IPC_LOCK) & 1) == 1;
        } catch (NumberFormatException e) {
          return false;
        }
      }
    }
    return false;
  }

  /** See getauxval(3): pairs of words, kind and value. */
  private static long pageBytes(Path root) {
    try {
      ByteBuffer words =
          ByteBuffer.wrap(Files.readAllBytes(root.resolve("proc/self/auxv")))
              .order(ByteOrder.nativeOrder());
      while (words.remaining() >= 2 * Long.BYTES) {
        long kind = words.getLong();
        long value = words.getLong();
        if (kind == AT_PAGESZ) {
          return value;
        }
      }
    } catch (IOException e) {
      return COMMON_PAGE_BYTES;
    }
    return COMMON_PAGE_BYTES;
  }
}
