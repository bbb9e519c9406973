// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.List;

/** A block server without threads: the caller's thread does the work, disk work included. */
public final class VirtualBlockServer {
  private final BlockServer server;

  public VirtualBlockServer(ServerParameters parameters) {
    server =
        new BlockServer(
            parameters,
            List.of(new DiskQueue(Runnable::run, DiskServers.THREADS, parameters.nanoClock())));
  }

  /** The server, which is never started. */
  public BlockServer server() {
    return server;
  }

  /** Does what is to be done now; returns the number of commands and LOCATEs. */
  public int doWork() {
    return server.doWork();
  }
}
