// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

/** Blocks that executors fetched from each other.
  *
  * @param counters
  *   of the plug-in, summed over the executors
  * @param remoteBytesRead
  *   from Spark's task metrics
  */
private[scenarios] final case class Traffic(counters: Map[String, Long], remoteBytesRead: Long) {
  def rdmaBytes: Long = counter("rdma.bytes.read")

  def tcpBytes: Long = counter("tcp.bytes.read")

  def counter(name: String): Long = counters.getOrElse(name, 0L)

  /** Blocks fetched by TCP, by reason. */
  def fallbacks: Map[String, Long] = counters.collect {
    case (name, count) if name.startsWith("fallback.") && count > 0 =>
      name.stripPrefix("fallback.") -> count
  }

  /** The difference to an earlier state of the same cluster. */
  def since(earlier: Traffic): Traffic =
    Traffic(
      counters.map { case (name, count) => name -> (count - earlier.counter(name)) },
      remoteBytesRead - earlier.remoteBytesRead
    )
}
