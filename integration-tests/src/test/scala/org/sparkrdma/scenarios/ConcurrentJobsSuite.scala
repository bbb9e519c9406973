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

import java.util.concurrent.Callable
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

/** Several jobs of several threads on the same executors. */
final class ConcurrentJobsSuite extends ScenarioSuite {
  private val Threads = 4
  private val CoresEach = 2

  test("should serve the jobs of several threads at once") {
    val everyday = VanillaAnswers.everyday
    val expected = Jobs.all.map { case (name, _) => everyday(name) }
    SparkCluster.run(Clusters.soft(CoresEach)) { cluster =>
      val (results, traffic) = cluster.trafficOf(allAtOnce(cluster))
      results.foreach(result => assert(result === expected))
      assertAllByRead(traffic)
      assertNothingRetried(cluster)
    }
  }

  private def allAtOnce(cluster: SparkCluster): Seq[Seq[Any]] = {
    val threads = Executors.newFixedThreadPool(Threads)
    try {
      val round: Callable[Seq[Any]] = () => Jobs.all.map { case (_, job) => job(cluster.spark) }
      threads.invokeAll(Seq.fill(Threads)(round).asJava).asScala.map(_.get()).toSeq
    } finally {
      threads.shutdownNow()
      threads.awaitTermination(1, TimeUnit.MINUTES)
    }
  }
}
