// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;

/**
 * One LOCATE in the {@link BlockServer}. The server calls exactly one of {@link #answered} and
 * {@link #malformed}, and neither after {@link BlockServer#onPeerGone}. Confined to the agent.
 */
public interface LocateCall {
  /** Number of its connection, which owns its leases. */
  long peer();

  /** The received message; belongs to the server until the call ends. */
  ByteBuffer request();

  /** Buffer for the answer, from index 0 on; belongs to the server until the call ends. */
  ByteBuffer answer();

  /** The answer is written. */
  void answered(int lengthBytes);

  /** The request breaks the protocol, for the reason given. */
  void malformed(String reason);
}
