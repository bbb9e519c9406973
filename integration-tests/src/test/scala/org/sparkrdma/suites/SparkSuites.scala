// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites

import org.apache.spark.SharedSparkContext
import org.apache.spark.ShuffleSuite
import org.apache.spark.rdd.PairRDDFunctionsSuite
import org.apache.spark.rdd.RDDSuite
import org.apache.spark.rdd.SortingSuite
import org.scalactic.source.Position
import org.scalatest.Suite
import org.scalatest.Tag

/** Spark's ShuffleSuite, about half of it on local clusters. Daily runs leave out tests of records
  * and serializers that differ from others of them in Spark's own code only.
  */
final class RdmaShuffleSuite extends ShuffleSuite {
  override def beforeAll(): Unit = {
    super.beforeAll()
    SuiteSettings.applyTo(conf)
  }

  override protected def test(name: String, tags: Tag*)(body: => Any)(implicit
      position: Position
  ): Unit =
    if (SuiteSettings.nightly || !SuiteSettings.NightlyShuffles(name)) {
      super.test(name, tags: _*)(body)
    }
}

/** Spark's suites that share a context, which begins with the run's setting. */
private[suites] trait SharedSetting extends SharedSparkContext { self: Suite =>
  override def beforeAll(): Unit = {
    SuiteSettings.applyTo(conf)
    super.beforeAll()
  }
}

final class RdmaSortingSuite extends SortingSuite with SharedSetting

final class RdmaPairRDDFunctionsSuite extends PairRDDFunctionsSuite with SharedSetting

final class RdmaRDDSuite extends RDDSuite with SharedSetting
