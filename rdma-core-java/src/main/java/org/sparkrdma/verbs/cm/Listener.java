// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.cm;

import java.net.InetSocketAddress;

/** Accepts connection requests until closed, by the thread that owns its connection manager. */
public interface Listener extends AutoCloseable {
  /** {@return its address, with the port that was chosen} */
  InetSocketAddress address();

  /** Stops listening; requests that were not polled are dropped. A second close does nothing. */
  @Override
  void close();
}
