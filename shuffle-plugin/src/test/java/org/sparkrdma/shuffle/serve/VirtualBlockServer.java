// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.file.Path;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/** A block server without threads: the caller does the work of its disk. */
public final class VirtualBlockServer {
  private final HandWorkers workers = new HandWorkers(1);
  private final BlockServer server;

  public VirtualBlockServer(ServerParameters parameters) {
    server = new BlockServer(parameters, workers, new SystemFiles(Path.of("/")), null);
  }

  /** One with threads, on a machine whose files are below a directory. */
  public static BlockServer on(Path root, ServerParameters parameters) {
    var threads = new DiskThreads(parameters.outputs().disks());
    return new BlockServer(parameters, threads, new SystemFiles(root), null);
  }

  public BlockServer server() {
    return server;
  }

  /** Does the work of the disk that waits; returns the number of jobs. */
  public int workOnDisk() {
    return workers.runAll();
  }
}
