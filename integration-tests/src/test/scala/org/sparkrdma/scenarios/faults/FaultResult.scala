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
package org.sparkrdma.scenarios.faults

/** What a fault came to.
  *
  * @param so
  *   what was to come of it, in words
  * @param seconds
  *   from its first stroke to the answer
  * @param counters
  *   that grew, of all executors
  */
private[faults] final case class FaultResult(
    name: String,
    so: String,
    hits: Int,
    seconds: Double,
    boundSeconds: Int,
    counters: Map[String, Long]
) {
  def counter(label: String): Long = counters.getOrElse(label, 0L)

  /** Blocks by TCP for each reason. */
  def reasons: Map[String, Long] = counters.collect {
    case (label, count) if label.startsWith("fallback.") && count > 0 =>
      label.stripPrefix("fallback.") -> count
  }
}
