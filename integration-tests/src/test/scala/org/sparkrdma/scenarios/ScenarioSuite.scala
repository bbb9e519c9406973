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
