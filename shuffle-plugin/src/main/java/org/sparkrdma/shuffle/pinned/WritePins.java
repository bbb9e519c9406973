// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The writes that a registration of map outputs causes in the kernel. Immutable.
 *
 * <p>Kernels before 6.2 pin pages for writing even when peers may only read them ({@code
 * drivers/infiniband/core/umem.c}), so the pages of a registered file are written again. On a local
 * disk that is a second write, which counts as a cost of the registration. On NFS it is a second
 * transfer of the file to its server. Where server and client are one host it can also stop both
 * for minutes: the write waits until the client returns its delegation of the file, and the return
 * waits for a thread of the server. Where blocks may be copied, such kernels register only files in
 * memory.
 */
public final class WritePins {
  private static final Pattern VERSION = Pattern.compile("([0-9]{1,4})\\.([0-9]{1,4}).*");
  private static final int FIRST_MAJOR = 6;
  private static final int FIRST_MINOR = 2;
  private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");

  private final String release;
  private final Mounts mounts;

  private WritePins(String release, Mounts mounts) {
    this.release = release;
    this.mounts = mounts;
  }

  /** Reads the facts from the files of a machine. */
  public static WritePins of(SystemFiles files) {
    return new WritePins(files.text("proc/sys/kernel/osrelease").orElse(""), Mounts.of(files));
  }

  /** Whether this kernel pins for writing; false when its version is not a number. */
  public static boolean byKernel(String release) {
    Matcher version = VERSION.matcher(release);
    if (!version.matches()) {
      return false;
    }
    int major = Integer.parseInt(version.group(1));
    return major < FIRST_MAJOR
        || (major == FIRST_MAJOR && Integer.parseInt(version.group(2)) < FIRST_MINOR);
  }

  /** The reason why files in the directory are not registered; empty where they may be. */
  public Optional<String> objection(Path directory) {
    return Optional.of(mounts.holding(directory).type())
        .filter(type -> byKernel(release) && !IN_MEMORY.contains(type))
        .map(type -> "Linux " + release + " would write registered files of " + type + " again");
  }
}
