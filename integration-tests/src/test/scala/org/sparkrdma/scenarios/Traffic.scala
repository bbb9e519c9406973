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
package org.sparkrdma.scenarios

/** What executors fetched from each other.
  *
  * @param counters
  *   of our plug-in, added up over the executors
  * @param remoteBytesRead
  *   as Spark's own task metrics say
  */
private[scenarios] final case class Traffic(counters: Map[String, Long], remoteBytesRead: Long) {
  def rdmaBytes: Long = counter("rdma.bytes.read")

  def tcpBytes: Long = counter("tcp.bytes.read")

  def counter(name: String): Long = counters.getOrElse(name, 0L)

  /** Blocks that went by TCP, by reason. */
  def fallbacks: Map[String, Long] = counters.collect {
    case (name, count) if name.startsWith("fallback.") && count > 0 =>
      name.stripPrefix("fallback.") -> count
  }

  /** What came after an earlier moment of the same cluster. */
  def since(earlier: Traffic): Traffic =
    Traffic(
      counters.map { case (name, count) => name -> (count - earlier.counter(name)) },
      remoteBytesRead - earlier.remoteBytesRead
    )
}
