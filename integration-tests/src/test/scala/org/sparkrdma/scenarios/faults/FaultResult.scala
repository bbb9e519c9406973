// SPDX-License-Identifier: Apache-2.0
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
