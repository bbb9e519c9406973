// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

/** The result of one fault.
  *
  * @param outcome
  *   the expected result, as text
  * @param answerRight
  *   whether the answer is that of Spark without the plug-in
  * @param seconds
  *   from its first firing to the answer
  * @param counters
  *   of all executors that grew
  * @param failedTasks
  *   tasks that failed or were killed
  * @param pauseMs
  *   longest time for which an executor did not run, unless the fault itself stops it
  */
private[scenarios] final case class FaultResult(
    name: String,
    outcome: String,
    hits: Int,
    answerRight: Boolean,
    seconds: Double,
    boundSeconds: Int,
    counters: Map[String, Long],
    failedTasks: Int = 0,
    retriedStages: Int = 0,
    pauseMs: Long = 0
) {
  def counter(label: String): Long = counters.getOrElse(label, 0L)

  /** Blocks by TCP for each reason. */
  def reasons: Map[String, Long] = counters.collect {
    case (label, count) if label.startsWith("fallback.") && count > 0 =>
      label.stripPrefix("fallback.") -> count
  }
}
