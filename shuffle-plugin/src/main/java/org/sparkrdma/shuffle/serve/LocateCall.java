/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;

/**
 * One LOCATE in the {@link BlockServer}; the server calls exactly one of {@link #answered} and
 * {@link #malformed}.
 */
public interface LocateCall {
  /** Number of its connection, which owns its leases. */
  long peer();

  /** Whether the connection has ended, so that nobody waits for the answer. Any thread. */
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
