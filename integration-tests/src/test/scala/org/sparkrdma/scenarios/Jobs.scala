// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.apache.spark.Dependency
import org.apache.spark.HashPartitioner
import org.apache.spark.Partitioner
import org.apache.spark.ShuffleDependency
import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD
import org.apache.spark.rdd.ShuffledRDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.count
import org.apache.spark.sql.functions.sum
import org.apache.spark.sql.functions.when
import org.apache.spark.storage.StorageLevel

/** Jobs with comparable results: each returns the same value on every cluster. */
private[scenarios] object Jobs {
  type Job = SparkSession => Any

  /** Jobs by the name of their test. */
  val all: Seq[(String, Job)] = Seq(
    "groupBy" -> groupBy,
    "join" -> join,
    "sortByKey" -> sortByKey,
    "repartition" -> repartition,
    "cache and shuffle" -> cacheAndShuffle,
    "coalesced SQL aggregation" -> coalescedAggregation,
    "skewed SQL join" -> skewedJoin,
    "dependency of a subclass" -> dependencyOfASubclass
  )

  def groupBy(spark: SparkSession): Any =
    pairs(spark.sparkContext, 200_000)
      .groupByKey(5)
      .mapValues(values => (values.size, values.sum))
      .collect()
      .sorted
      .toSeq

  /** The result of `groupBy`, computed without Spark. */
  def groupByAnswer: Any =
    (0 until 200_000)
      .map(pair)
      .groupMap(_._1)(_._2)
      .map { case (key, values) => (key, (values.size, values.sum)) }
      .toSeq
      .sorted

  private def join(spark: SparkSession): Any = {
    val left = pairs(spark.sparkContext, 40_000)
    val right = pairs(spark.sparkContext, 8_000).mapValues(_ * 3)
    left
      .join(right, 4)
      .map { case (key, (a, b)) => (key, (1L, a * 31 + b)) }
      .reduceByKey((x, y) => (x._1 + y._1, x._2 + y._2), 3)
      .collect()
      .sorted
      .toSeq
  }

  private def sortByKey(spark: SparkSession): Any =
    pairs(spark.sparkContext, 50_000)
      .map { case (key, value) => ((key, value), value.toString * 3) }
      .sortByKey(ascending = false, numPartitions = 4)
      .collect()
      .toSeq

  private def repartition(spark: SparkSession): Any =
    pairs(spark.sparkContext, 100_000)
      .repartition(7)
      .map { case (key, value) => (1L, key.toLong, value) }
      .reduce((a, b) => (a._1 + b._1, a._2 + b._2, a._3 + b._3))

  private def dependencyOfASubclass(spark: SparkSession): Any = {
    val records = pairs(spark.sparkContext, 20_000)
    new SubclassedRDD(records, new HashPartitioner(4)).collect().sorted.toSeq
  }

  private def cacheAndShuffle(spark: SparkSession): Any = {
    val reduced = pairs(spark.sparkContext, 100_000)
      .reduceByKey(_ + _, 4)
      .persist(StorageLevel.MEMORY_AND_DISK)
    val total = reduced.values.sum()
    val regrouped = reduced
      .map { case (key, value) => (key % 10, value) }
      .groupByKey(3)
      .mapValues(_.toSeq.sorted)
      .collect()
      .sortBy(_._1)
      .toSeq
    reduced.unpersist(blocking = true)
    (total, regrouped)
  }

  /** Many small partitions, which adaptive execution reads in batches. */
  def coalescedAggregation(spark: SparkSession): Any =
    inSession(spark, "spark.sql.shuffle.partitions" -> "60") { session =>
      val aggregated = table(session, 100_000)
        .groupBy("key")
        .agg(count("value").as("n"), sum("value").as("total"))
      val rows = aggregated.collect().map(_.toString).sorted.toSeq
      requirePlan(aggregated, "coalesced")
      rows
    }

  /** The result of `coalescedAggregation`, computed without Spark. */
  def coalescedAnswer: Any =
    (0L until 100_000L)
      .groupBy(id => id * 2654435761L % 1_000)
      .map { case (key, ids) => s"[$key,${ids.size},${ids.sum}]" }
      .toSeq
      .sorted

  /** One key has most of the rows, so that adaptive execution splits its partition. */
  private def skewedJoin(spark: SparkSession): Any =
    inSession(
      spark,
      "spark.sql.shuffle.partitions" -> "8",
      "spark.sql.autoBroadcastJoinThreshold" -> "-1",
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1",
      "spark.sql.adaptive.forceOptimizeSkewedJoin" -> "true",
      "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "64k",
      "spark.sql.adaptive.coalescePartitions.minPartitionSize" -> "1k",
      "spark.sql.adaptive.skewJoin.skewedPartitionFactor" -> "2",
      "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "128k"
    ) { session =>
      val facts = table(session, 200_000)
        .withColumn("key", when(col("value") % 10 < 8, 7).otherwise(col("key")))
      val names = table(session, 1_000).select(col("key"), (col("value") * 5).as("weight"))
      val joined = facts.join(names, "key").select(col("key"), col("value") + col("weight"))
      val rows = joined.groupBy("key").agg(count("*"), sum("(value + weight)"))
      val result = rows.collect().map(_.toString).sorted.toSeq
      requirePlan(rows, "skewed")
      result
    }

  /** Maps times reducers blocks, each with a few records. */
  def smallBlocks(sc: SparkContext, maps: Int, reducers: Int): Seq[(Int, Int)] =
    sc.parallelize(0 until maps, maps)
      .flatMap(map => Iterator.tabulate(reducers)(reducer => (reducer, map)))
      .partitionBy(new HashPartitioner(reducers))
      .mapPartitions { records =>
        var count = 0
        var total = 0
        records.foreach { case (_, map) =>
          count += 1
          total += map
        }
        Iterator(count -> total)
      }
      .collect()
      .toSeq

  /** A shuffle that is read many times. */
  def reduced(sc: SparkContext): RDD[(Int, Long)] = pairs(sc, 20_000).reduceByKey(_ + _, 4)

  /** The records of `reduced`, computed without Spark. */
  def reducedAnswer: Set[(Int, Long)] =
    (0 until 20_000).map(pair).groupMapReduce(_._1)(_._2)(_ + _).toSet

  /** The id of the shuffle that an RDD reads. */
  def shuffleId(shuffled: RDD[_]): Int =
    shuffled.dependencies.collectFirst { case shuffle: ShuffleDependency[_, _, _] =>
      shuffle.shuffleId
    }.get

  private def pairs(sc: SparkContext, count: Int): RDD[(Int, Long)] =
    sc.parallelize(0 until count, 6).map(pair)

  private def pair(i: Int): (Int, Long) = (((i * 0x9e3779b1) >>> 8) % 1_000, i.toLong)

  private def table(session: SparkSession, count: Int): DataFrame =
    session
      .range(0, count, 1, 6)
      .select(((col("id") * 2654435761L) % 1_000).cast("int").as("key"), col("id").as("value"))

  private def inSession[T](spark: SparkSession, settings: (String, String)*)(
      body: SparkSession => T
  ): T = {
    val session = spark.newSession()
    settings.foreach { case (key, value) => session.conf.set(key, value) }
    body(session)
  }

  private def requirePlan(frame: DataFrame, word: String): Unit = {
    val plan = frame.queryExecution.executedPlan.toString
    require(plan.contains(word), s"the plan is not $word: $plan")
  }
}

/** Its dependency is of a subclass, as the pipelined ones of Spark 4.3 are, which come to the
  * shuffle manager where Spark has no other one for them.
  */
private final class SubclassedRDD(records: RDD[(Int, Long)], partitioner: Partitioner)
    extends ShuffledRDD[Int, Long, Long](records, partitioner) {

  override def getDependencies: Seq[Dependency[_]] =
    Seq(new SubclassedDependency(records, partitioner))
}

private final class SubclassedDependency(records: RDD[(Int, Long)], partitioner: Partitioner)
    extends ShuffleDependency[Int, Long, Long](records, partitioner)
