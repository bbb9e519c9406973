// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites

import org.apache.spark.ExternalShuffleServiceSuite
import org.apache.spark.ShuffleSuite
import org.apache.spark.rdd.PairRDDFunctionsSuite
import org.apache.spark.rdd.RDDSuite
import org.apache.spark.rdd.SortingSuite
import org.scalactic.source.Position
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

/** Spark's SortingSuite. */
final class RdmaSortingSuite extends SortingSuite {
  override def beforeAll(): Unit = {
    SuiteSettings.applyTo(conf)
    super.beforeAll()
  }
}

/** Spark's PairRDDFunctionsSuite. */
final class RdmaPairRDDFunctionsSuite extends PairRDDFunctionsSuite {
  override def beforeAll(): Unit = {
    SuiteSettings.applyTo(conf)
    super.beforeAll()
  }
}

/** Spark's RDDSuite. */
final class RdmaRDDSuite extends RDDSuite {
  override def beforeAll(): Unit = {
    SuiteSettings.applyTo(conf)
    super.beforeAll()
  }
}

/** Spark's ExternalShuffleServiceSuite.
  *
  * One of its tests removes the executors from the service and expects that the next fetch fails.
  * The loopback engine reads from the live executors, so there is no failure.
  */
final class RdmaExternalShuffleServiceSuite extends ExternalShuffleServiceSuite {
  override def beforeAll(): Unit = {
    super.beforeAll()
    SuiteSettings.applyTo(conf)
  }

  override protected def test(name: String, tags: Tag*)(body: => Any)(implicit
      position: Position
  ): Unit =
    if (name == "using external shuffle service" && SuiteSettings.byRdma) {
      super.test(name, tags: _*)(cancel("READ needs no service, so its loss makes no fetch fail"))
    } else {
      super.test(name, tags: _*)(body)
    }
}
