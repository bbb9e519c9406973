// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites

import org.apache.spark.SparkConf

/** Applies the run's setting to Spark's suites that ignore system properties. */
private[suites] object SuiteSettings {
  private val Prefixes = Seq("spark.shuffle.", "spark.plugins")

  /** Tests of ShuffleSuite that daily runs leave out. */
  val NightlyShuffles: Set[String] = Set(
    "zero sized blocks without kryo",
    "shuffle serializer",
    "shuffle on mutable pairs",
    "sorting on mutable pairs",
    "cogroup using mutable pairs",
    "subtract mutable pairs",
    "sort with Java non serializable class - Java",
    "sort with Java non serializable class - Kryo"
  )

  /** Whether the run has the tests that take long and seldom find anything. */
  def nightly: Boolean = sys.props.get("it.nightly").contains("true")

  def applyTo(conf: SparkConf): Unit =
    sys.props.foreach { case (key, value) =>
      if (Prefixes.exists(key.startsWith)) {
        conf.set(key, value)
      }
    }
}
