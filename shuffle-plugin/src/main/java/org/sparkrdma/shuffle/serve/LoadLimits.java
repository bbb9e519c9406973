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

import java.time.Duration;

/**
 * How long requests may wait in the server.
 *
 * @param maxWaitNs of a request that waits for a thread: beyond it the blocks are fetched by TCP
 * @param maxAgeNs of a request since its arrival: beyond it no further block is located
 */
record LoadLimits(long maxWaitNs, long maxAgeNs) {
  private static final int WAIT_PART = 16;

  /** A pause of the JVM or of a disk is no overload, however short the time-out is. */
  private static final long MIN_WAIT_NS = 1_000_000_000;

  /** Limits for readers that wait this long for an answer. */
  static LoadLimits of(Duration requestTimeout) {
    long timeoutNs = requestTimeout.toNanos();
    long maxWaitNs = Math.max(timeoutNs / WAIT_PART, Math.min(timeoutNs / 2, MIN_WAIT_NS));
    return new LoadLimits(maxWaitNs, timeoutNs / 2);
  }
}
