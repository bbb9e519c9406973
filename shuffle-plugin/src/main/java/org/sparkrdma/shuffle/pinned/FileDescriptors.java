// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.util.OptionalLong;

/** File descriptors of this process and their limit ({@code ulimit -n}). Stateless. */
public final class FileDescriptors {
  /** RDMA starts only when this many are free, so that Spark's tasks have the rest. */
  public static final int NEEDED = 64;

  private FileDescriptors() {}

  /** Number of descriptors that are free; empty where that is not known, or has no limit. */
  public static OptionalLong free(SystemFiles files) {
    String[] limits = files.value("proc/self/limits", "Max open files").split(" +", 2);
    OptionalLong limit = SystemFiles.number(limits[0]);
    String[] open = files.root().resolve("proc/self/fd").toFile().list();
    return limit.isEmpty() || open == null
        ? OptionalLong.empty()
        : OptionalLong.of(Math.max(0, limit.getAsLong() - open.length));
  }
}
