// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Memory limits of this process's control groups, see cgroups(7): version 1 and 2, at their usual
 * mount points. The limits of all groups up to the root apply, so the minimum counts. A container
 * often sees its own group as the root, below which its path does not exist. Stateless.
 */
final class ControlGroups {
  private static final Path VERSION_1 = Path.of("sys/fs/cgroup/memory");
  private static final Path VERSION_2 = Path.of("sys/fs/cgroup");

  private ControlGroups() {}

  /** The minimum of all limits; empty for none. */
  static OptionalLong minLimit(SystemFiles files) {
    List<String> values = new ArrayList<>();
    for (String line : files.byteLines("proc/self/cgroup")) {
      String[] fields = line.split(":", 3);
      if (fields.length == 3 && fields[1].isEmpty()) {
        addLimits(values, files.root().resolve(VERSION_2), fields[2]);
      } else if (fields.length == 3 && List.of(fields[1].split(",", -1)).contains("memory")) {
        addLimits(values, files.root().resolve(VERSION_1), fields[2]);
      }
    }
    long least = Long.MAX_VALUE;
    for (String value : values) {
      least = Math.min(least, SystemFiles.number(value).orElse(least));
    }
    // Without a limit, version 2 has "max" and version 1 a number near 2^63.
    return least < Long.MAX_VALUE / 2 ? OptionalLong.of(least) : OptionalLong.empty();
  }

  /** Adds the lines with limits of a group and of all groups above it, in one of both versions. */
  private static void addLimits(List<String> values, Path top, String path) {
    Path root = Path.of("/");
    Path own = root.relativize(SystemFiles.path(path).orElse(root));
    Path group = top.resolve(own).normalize();
    // A process can be in a group outside of its namespace.
    group = group.startsWith(top) ? group : top;
    while (group.startsWith(top)) {
      values.addAll(SystemFiles.lines(group.resolve("memory.max")));
      // Above it the kernel reclaims and slows the group down, which pinned memory cannot end.
      values.addAll(SystemFiles.lines(group.resolve("memory.high")));
      values.addAll(SystemFiles.lines(group.resolve("memory.limit_in_bytes")));
      // Version 1 also reports the minimum of groups outside this namespace.
      for (String line : SystemFiles.lines(group.resolve("memory.stat"))) {
        if (line.startsWith("hierarchical_memory_limit")) {
          values.add(line);
        }
      }
      group = group.getParent();
    }
  }
}
