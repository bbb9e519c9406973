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
 * @param bytes memory of the host, or the minimum limit of the control groups where that is lower
 * @param contained whether the limit of a control group is the lower one
 * @param lockableBytes RLIMIT_MEMLOCK, see getrlimit(2); empty for unlimited or unknown, and where
 *     it does not apply: CAP_IPC_LOCK, see capabilities(7)
 * @param heapBytes maximum size of the Java heap
 * @param pageBytes of a page
 * @param processors that this process may use
 */
public record MachineMemory(
    long bytes,
    boolean contained,
    OptionalLong lockableBytes,
    long heapBytes,
    long pageBytes,
    int processors) {
  /** Assumed memory of a host that does not report it. */
  private static final long UNKNOWN_HOST_BYTES = 8L << 30;

  private static final long AT_PAGESZ = 6;
  private static final long COMMON_PAGE_BYTES = 4_096;
  private static final int CAP_IPC_LOCK = 14;
  private static final int HEX = 16;
  private static final List<String> ALL_USERS = List.of("0", "0", "4294967295");

  /** Reads the limits of this process. */
  public static MachineMemory current() {
    Runtime runtime = Runtime.getRuntime();
    return under(Path.of("/"), runtime.maxMemory(), runtime.availableProcessors());
  }

  /** Reads the system's files under a root directory. */
  public static MachineMemory under(Path root, long heapBytes, int processors) {
    SystemFiles files = new SystemFiles(root);
    OptionalLong kibibytes = SystemFiles.number(files.value("proc/meminfo", "MemTotal:"));
    long host = kibibytes.isPresent() ? kibibytes.getAsLong() << 10 : UNKNOWN_HOST_BYTES;
    long container = ControlGroups.minLimit(files).orElse(Long.MAX_VALUE);
    return new MachineMemory(
        Math.min(host, container),
        container < host,
        lockable(files),
        heapBytes,
        pageBytes(root),
        processors);
  }

  private static OptionalLong lockable(SystemFiles files) {
    // Soft before hard limit; the soft one may be "unlimited".
    String[] limits = files.value("proc/self/limits", "Max locked memory").split(" +", 2);
    return hasLockCapability(files) ? OptionalLong.empty() : SystemFiles.number(limits[0]);
  }

  /**
   * The kernel checks the capability in the initial user namespace, where all users are mapped. A
   * kernel without user namespaces has no such file.
   */
  private static boolean hasLockCapability(SystemFiles files) {
    List<String> users = files.lines("proc/self/uid_map");
    boolean initial =
        users.isEmpty()
            || users.stream().anyMatch(line -> List.of(line.trim().split(" +")).equals(ALL_USERS));
    try {
      long mask = Long.parseUnsignedLong(files.value("proc/self/status", "CapEff:"), HEX);
      return initial && ((mask >> CAP_IPC_LOCK) & 1) == 1;
    } catch (NumberFormatException e) {
      return false;
    }
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

  /** The remedy when an executor may not lock so much memory. */
  public static String memlockRemedy(long neededBytes) {
    return "let executors lock "
        + neededBytes
        + " bytes, see docs/install.md: ulimit -l in the shell or LimitMEMLOCK in the systemd"
        + " unit that starts them, --ulimit memlock=-1 of a container, the capability IPC_LOCK in"
        + " Kubernetes";
  }
}
