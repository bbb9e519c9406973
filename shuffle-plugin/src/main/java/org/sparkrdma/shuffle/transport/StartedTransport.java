// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockTransport;

/** An executor's end of the RDMA shuffle, which serves and fetches, as the runtime uses it. */
public interface StartedTransport extends BlockTransport, AutoCloseable {
  /** This executor's listener addresses and the token that proves membership of the application. */
  Endpoint endpoint();

  /** Soon deregisters the files of a shuffle that Spark has unregistered; does not block. */
  void unregisterShuffle(int shuffleId);

  /** Called each second by one thread: looks for what makes the transport lost, and reports it. */
  void check();

  /**
   * Answers open blocks with STOPPED, ends all connections and releases everything; goes on where
   * an earlier call has thrown.
   */
  @Override
  void close();
}
