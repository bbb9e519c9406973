// SPDX-License-Identifier: Apache-2.0
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
