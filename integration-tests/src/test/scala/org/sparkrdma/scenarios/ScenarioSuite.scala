// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.scalatest.concurrent.Signaler
import org.scalatest.concurrent.ThreadSignaler
import org.scalatest.concurrent.TimeLimitedTests
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.Minutes
import org.scalatest.time.Span

/** What the scenarios share: a time limit for each test, and the rule about bytes. */
private[scenarios] abstract class ScenarioSuite extends AnyFunSuite with TimeLimitedTests {
  override def timeLimit: Span = Span(10, Minutes)

  override val defaultTestSignaler: Signaler = ThreadSignaler

  /** Every remote byte came by READ, and Spark counted the same bytes. */
  protected def assertAllByRead(traffic: Traffic): Unit = {
    assert(traffic.fallbacks.isEmpty, traffic)
    assert(traffic.rdmaBytes > 0, traffic)
    assert(traffic.tcpBytes === 0, traffic)
    assertSameAsSpark(traffic)
  }

  /** What our client says it fetched is what Spark's tasks say they read. */
  protected def assertSameAsSpark(traffic: Traffic): Unit =
    assert(traffic.rdmaBytes + traffic.tcpBytes === traffic.remoteBytesRead, traffic)

  /** Nothing had to be computed again. */
  protected def assertNothingRetried(cluster: SparkCluster): Unit = {
    SparkInternals.drainListeners(cluster.sc)
    assert(cluster.log.failedTasks === 0)
    assert(cluster.log.retriedStages === 0)
  }
}
