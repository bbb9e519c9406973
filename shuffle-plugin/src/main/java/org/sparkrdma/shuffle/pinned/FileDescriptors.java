// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.util.OptionalLong;

/** File descriptors of this process and their limit ({@code ulimit -n}). Stateless. */
public final class FileDescriptors {
  /**
   * An executor with RDMA holds at most this many more than one without, beside one or two for each
   * connected peer of the loopback engine.
   */
  public static final int HELD = 25;

  /** RDMA starts only when this many are free, so that Spark's tasks have the rest. */
  public static final int NEEDED = 64;

  private static final String LIMIT = "Max open files";

  private FileDescriptors() {}

  /** The limit of a process; empty for none, or where the system does not report it. */
  public static OptionalLong limit(SystemFiles files) {
    return files.lines("proc/self/limits").stream()
        .filter(line -> line.startsWith(LIMIT))
        .map(line -> line.substring(LIMIT.length()).trim().split(" +", 2)[0])
        .map(SystemFiles::number)
        .findFirst()
        .orElse(OptionalLong.empty());
  }

  /** Number of descriptors that are free; empty where that is not known. */
  public static OptionalLong free(SystemFiles files) {
    OptionalLong limit = limit(files);
    String[] open = files.root().resolve("proc/self/fd").toFile().list();
    return limit.isEmpty() || open == null
        ? OptionalLong.empty()
        : OptionalLong.of(Math.max(0, limit.getAsLong() - open.length));
  }
}
