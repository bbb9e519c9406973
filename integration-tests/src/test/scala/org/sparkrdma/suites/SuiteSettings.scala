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
package org.sparkrdma.suites

import org.apache.spark.SparkConf

/** Carries the run's setting into suites of Spark's that ignore system properties. */
private[suites] object SuiteSettings {
  private val Prefixes = Seq("spark.shuffle.", "spark.plugins")

  /** Whether the run's setting has an engine. */
  def byRdma: Boolean = sys.props.contains("spark.shuffle.rdma.engine")

  def applyTo(conf: SparkConf): Unit =
    sys.props.foreach { case (key, value) =>
      if (Prefixes.exists(key.startsWith)) {
        conf.set(key, value)
      }
    }
}
