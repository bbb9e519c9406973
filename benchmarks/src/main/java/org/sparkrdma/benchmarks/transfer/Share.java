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
package org.sparkrdma.benchmarks.transfer;

import java.io.Serializable;
import java.util.Map;

/** What one of the two executors of a round knows of one engine's part; joined in the driver. */
sealed interface Share extends Serializable {
  /** Whose part it was. */
  TransferEngine engine();

  /**
   * Of the one that serves.
   *
   * @param sum over what was written
   * @param cpuNs while the other fetched
   * @param counters of the plug-in, what they grew by; zeros left out
   */
  record Served(TransferEngine engine, long sum, long cpuNs, Map<String, Long> counters)
      implements Share {}

  /**
   * Of the one that fetches.
   *
   * @param bytes that it fetched
   * @param ns how long that took
   * @param sum over what was read
   * @param cpuNs in that time
   * @param counters of the plug-in, what they grew by; zeros left out
   */
  record Fetched(
      TransferEngine engine, long bytes, long ns, long sum, long cpuNs, Map<String, Long> counters)
      implements Share {}
}
