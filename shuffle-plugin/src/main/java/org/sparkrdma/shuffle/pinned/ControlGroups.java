// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * Limits of this process's control groups, see cgroups(7): version 1 and 2, and both at once. The
 * limits of all groups up to the root apply, so the minimum counts. In a namespace of its own a
 * process does not see the groups above; the container's own group is the root then.
 */
public final class ControlGroups {
  private static final Path ROOT = Path.of("/");
  private static final Path USUAL = Path.of("/sys/fs/cgroup");
  private static final String VERSION_1 = "memory";
  private static final String VERSION_2 = "";

  private final SystemFiles files;

  /** Those of the process that these files describe. */
  public ControlGroups(SystemFiles files) {
    this.files = files;
  }

  /** A mounted hierarchy: its {@code root} is visible at {@code at}. */
  private record Mount(String root, Path at) {}

  /** The minimum of all limits; empty for none. */
  OptionalLong minLimit() {
    List<Path> limits = new ArrayList<>();
    List<Path> stats = new ArrayList<>();
    for (Path group : groups(VERSION_2, "cgroup2", USUAL)) {
      limits.add(group.resolve("memory.max"));
    }
    for (Path group : groups(VERSION_1, "cgroup", USUAL.resolve("memory"))) {
      limits.add(group.resolve("memory.limit_in_bytes"));
      stats.add(group.resolve("memory.stat"));
    }
    Stream<String> values =
        Stream.concat(
            limits.stream().flatMap(file -> SystemFiles.lines(file).stream()),
            // Version 1 also reports the minimum of groups outside this namespace.
            stats.stream()
                .flatMap(file -> SystemFiles.lines(file).stream())
                .filter(line -> line.startsWith("hierarchical_memory_limit")));
    // Without a limit, version 2 has "max" and version 1 a number near 2^63.
    return values
        .map(SystemFiles::number)
        .flatMapToLong(OptionalLong::stream)
        .filter(limit -> limit < Long.MAX_VALUE / 2)
        .min();
  }

  /** Lines with the limits of objects of RDMA devices, see the kernel's cgroup-v1/rdma.rst. */
  public List<String> rdmaLimits() {
    return Stream.concat(
            groups(VERSION_2, "cgroup2", USUAL).stream(),
            groups("rdma", "cgroup", USUAL.resolve("rdma")).stream())
        .flatMap(group -> SystemFiles.lines(group.resolve("rdma.max")).stream())
        .distinct()
        .toList();
  }

  /** This process's group in a hierarchy and all its visible ancestors. */
  private List<Path> groups(String controller, String type, Path usual) {
    Mount mount = mount(type, controller).orElse(new Mount("/", usual));
    Path top = seen(mount.at());
    List<Path> groups = new ArrayList<>();
    Path own = SystemFiles.path("/" + own(controller, mount.root())).orElse(ROOT);
    Path group = top.resolve(ROOT.relativize(own)).normalize();
    while (group.startsWith(top)) {
      groups.add(group);
      group = group.getParent();
    }
    return groups.isEmpty() ? List.of(top) : groups;
  }

  private Path seen(Path absolute) {
    return files.root().resolve(ROOT.relativize(absolute));
  }

  /** Path of the process's group relative to the mount's root. */
  private String own(String controller, String mountRoot) {
    for (String line : files.byteLines("proc/self/cgroup")) {
      String[] fields = line.split(":", 3);
      if (fields.length == 3 && List.of(fields[1].split(",", -1)).contains(controller)) {
        String path = fields[2];
        if (!mountRoot.equals("/") && (path + "/").startsWith(mountRoot + "/")) {
          path = path.substring(mountRoot.length());
        }
        return path.replaceFirst("^/+", "");
      }
    }
    return "";
  }

  /** See proc_pid_mountinfo(5): fields, a single dash, then type, source and options. */
  private Optional<Mount> mount(String type, String option) {
    for (String line : files.byteLines("proc/self/mountinfo")) {
      String[] halves = line.split(" - ", 2);
      String[] before = halves[0].split(" ", -1);
      String[] after = halves.length == 2 ? halves[1].split(" ", -1) : new String[0];
      if (before.length >= 5
          && after.length >= 3
          && after[0].equals(type)
          && (option.isEmpty() || List.of(after[2].split(",", -1)).contains(option))) {
        String mountRoot = SystemFiles.unescaped(before[3]);
        return SystemFiles.path(SystemFiles.unescaped(before[4]))
            .map(at -> new Mount(mountRoot, at));
      }
    }
    return Optional.empty();
  }
}
