// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;

/**
 * The writes that a registration of map outputs causes in the kernel. Confined to the thread that
 * asks.
 *
 * <p>Kernels before 6.2 pin pages for writing even when peers may only read them ({@code
 * drivers/infiniband/core/umem.c}), so the pages of a registered file are written again. On a local
 * disk that is a second write, which counts as a cost of the registration. On NFS it is a second
 * transfer of the file to its server. Where server and client are one host it can also stop both
 * for minutes: the write waits until the client returns its delegation of the file, and the return
 * waits for a thread of the server. Where blocks may be copied, such kernels register only files in
 * memory.
 *
 * <p>Vendors change older kernels, so it is tried, once for each file system: a kernel that pins
 * for writing refuses a mapping that cannot be written with EFAULT, and accepts one that can. Where
 * the answer is neither, as on a device that refuses everything, the version of the kernel decides.
 * A mapping of NFS that can be written is never tried.
 */
public final class WritePins {
  private static final Pattern VERSION = Pattern.compile("([0-9]{1,4})\\.([0-9]{1,4}).*");
  private static final int FIRST_MAJOR = 6;
  private static final int FIRST_MINOR = 2;
  private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");
  private static final int PROBE_BYTES = 4_096;

  /** How the kernel pins files of a file system, as far as it was tried. */
  private enum Pins {
    FOR_READING,
    FOR_WRITING,
    UNKNOWN
  }

  /**
   * The result of a trial.
   *
   * @param why a colon and the words of a refusal; empty where there was none
   */
  private record Trial(Pins pins, String why) {}

  private final String release;
  private final Mounts mounts;
  private final ProtectionDomain domain;
  private final Map<Mounts.Mount, Trial> tried = new HashMap<>();

  private WritePins(String release, Mounts mounts, ProtectionDomain domain) {
    this.release = release;
    this.mounts = mounts;
    this.domain = domain;
  }

  /**
   * Reads the facts from the files of a machine.
   *
   * @param domain of the device that will register files
   */
  public static WritePins of(SystemFiles files, ProtectionDomain domain) {
    return new WritePins(
        files.text("proc/sys/kernel/osrelease").orElse(""), Mounts.of(files), domain);
  }

  /** Whether a kernel of this version pins for writing; false when the version is not a number. */
  private static boolean byKernel(String release) {
    Matcher version = VERSION.matcher(release);
    if (!version.matches()) {
      return false;
    }
    int major = Integer.parseInt(version.group(1));
    return major < FIRST_MAJOR
        || (major == FIRST_MAJOR && Integer.parseInt(version.group(2)) < FIRST_MINOR);
  }

  /**
   * The reason why files in the directory are not registered; empty where they may be. Registers a
   * file there when none of its file system was tried before.
   */
  public Optional<String> objection(Path directory) {
    Mounts.Mount mount = mounts.holding(directory);
    if (IN_MEMORY.contains(mount.type())) {
      return Optional.empty();
    }
    Trial trial = tried.get(mount);
    if (trial == null) {
      trial = tryIn(mount, directory);
    }
    boolean unknown = trial.pins() == Pins.UNKNOWN;
    boolean writes = unknown ? byKernel(release) : trial.pins() == Pins.FOR_WRITING;
    return writes
        ? Optional.of(
            ("Linux " + release + " would write registered files of " + mount.type())
                + (unknown ? " again, by its version" : " again, as a trial shows")
                + trial.why())
        : Optional.empty();
  }

  /**
   * What a trial has shown of a directory without an {@link #objection}; empty where the version of
   * the kernel says the same.
   */
  public Optional<String> permission(Path directory) {
    Mounts.Mount mount = mounts.holding(directory);
    Trial trial = tried.get(mount);
    return trial != null && trial.pins() == Pins.FOR_READING && byKernel(release)
        ? Optional.of(
            ("Linux " + release + " does not write registered files of " + mount.type())
                + " again, as a trial shows")
        : Optional.empty();
  }

  /** Another directory is tried where files cannot be written in this one. */
  private Trial tryIn(Mounts.Mount mount, Path directory) {
    try {
      Path file = Files.createTempFile(directory, "rdma-probe", ".tmp");
      try {
        Files.write(file, new byte[PROBE_BYTES]);
        Trial trial = tryFile(file, mount.type().startsWith("nfs"));
        tried.put(mount, trial);
        return trial;
      } finally {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      return new Trial(Pins.UNKNOWN, ": no file can be written: " + e);
    }
  }

  private Trial tryFile(Path file, boolean onNfs) {
    String why = "";
    try {
      if (domain.testReadOnlyFile(file, PROBE_BYTES)) {
        return new Trial(Pins.FOR_READING, why);
      }
    } catch (VerbsException refusal) {
      why = ": " + refusal.getMessage();
      if (refusal.errno() == VerbsException.EFAULT && !onNfs) {
        return tryWritable(file, why);
      }
    }
    return new Trial(Pins.UNKNOWN, why);
  }

  private Trial tryWritable(Path file, String why) {
    try {
      domain.registerFile(file, 0, PROBE_BYTES, Set.of(AccessFlag.REMOTE_READ)).close();
      return new Trial(Pins.FOR_WRITING, why);
    } catch (VerbsException refusal) {
      return new Trial(Pins.UNKNOWN, ": " + refusal.getMessage());
    }
  }
}
