// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds local directories in memory (tmpfs) in a container, such as those of {@code
 * spark.kubernetes.local.dirs.tmpfs}. The container's limit and the overhead then hold shuffle
 * files as well as pinned memory, and no setting has the size of these files. For one thread at a
 * time.
 */
public final class MemoryDirectories {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryDirectories.class);

  private boolean reported;

  /**
   * Logs one WARN, the first time that there is such a directory.
   *
   * @param files of the machine
   * @param derived the limit by {@link PinnedLimit}, not set by the user
   */
  public void check(
      SystemFiles files, MachineMemory machine, PinnedLimit derived, List<Path> directories) {
    if (reported || machine.containerBytes().isEmpty()) {
      return;
    }
    Mounts mounts = Mounts.of(files);
    List<Path> inMemory =
        directories.stream()
            .filter(directory -> mounts.holding(directory).type().equals("tmpfs"))
            .toList();
    if (!inMemory.isEmpty()) {
      reported = true;
      LOG.warn(
          "Local directories are in memory, which the container limit includes; with the pinned"
              + " memory their shuffle files may exceed it: directories={} containerBytes={}"
              + " pinnedMaxBytes={}; set spark.shuffle.rdma.pinned.max to at most half of what the files leave",
          inMemory,
          machine.containerBytes().getAsLong(),
          derived.bytes());
    }
  }
}
