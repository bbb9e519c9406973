// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;

/**
 * One LOCATE in the {@link BlockServer}; the server calls exactly one of {@link #answered} and
 * {@link #malformed}. When that throws, the answer was not taken, and a later one follows.
 */
public interface LocateCall {
  /** Number of its connection, which owns its leases. */
  long peer();

  /** Whether the connection has ended, so that no answer is needed. Any thread. */
  boolean isClosed();

  /** The received message; belongs to the server until the call ends. */
  ByteBuffer request();

  /** Buffer for the answer, from index 0 on; belongs to the server until the call ends. */
  ByteBuffer answer();

  /** The answer is written. With the server's lock; must not block. */
  void answered(int lengthBytes);

  /**
   * The request breaks the protocol, for the reason given. With the server's lock; must not block.
   */
  void malformed(String reason);
}
