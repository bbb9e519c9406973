// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The mounted file systems of this process, see proc_pid_mountinfo(5). Immutable. */
public final class Mounts {
  private static final int MOUNT_POINT = 4;

  private final List<Mount> mounts = new ArrayList<>();

  /**
   * A mounted file system.
   *
   * @param at its directory
   * @param type such as ext4; "unknown" where the system does not report it
   */
  public record Mount(Path at, String type) {}

  private Mounts() {}

  /** Those of the process whose files these are; empty where the system does not list them. */
  public static Mounts of(SystemFiles files) {
    Mounts all = new Mounts();
    for (String line : files.byteLines("proc/self/mountinfo")) {
      // Fields, a single dash, then type, source and options of the file system.
      String[] halves = line.split(" - ", 2);
      String[] fields = halves[0].split(" ", -1);
      if (halves.length == 2 && fields.length > MOUNT_POINT) {
        String type = halves[1].split(" ", 2)[0];
        SystemFiles.path(SystemFiles.unescaped(fields[MOUNT_POINT]))
            .ifPresent(at -> all.mounts.add(new Mount(at, type)));
      }
    }
    return all;
  }

  /** The innermost mount that holds a path; of several at one directory the last. */
  public Mount holding(Path path) {
    Path absolute = real(path);
    Mount innermost = new Mount(Path.of("/"), "unknown");
    for (Mount mount : mounts) {
      if (absolute.startsWith(mount.at())
          && mount.at().getNameCount() >= innermost.at().getNameCount()) {
        innermost = mount;
      }
    }
    return innermost;
  }

  /** Resolves symbolic links where the path exists. */
  private static Path real(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path.toAbsolutePath().normalize();
    }
  }
}
