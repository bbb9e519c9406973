// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.Random

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

  /** Same as `smallBlocks`, with padded records: their number and the sum of their values. */
  def paddedBlocks(
      sc: SparkContext,
      maps: Int,
      reducers: Int,
      records: Int,
      padding: Int
  ): Seq[(Int, Int)] =
    sc.parallelize(0 until maps, maps)
      .flatMap { map =>
        for (reducer <- Iterator.range(0, reducers); number <- Iterator.range(0, records))
          yield (reducer, (number, noise(map + number, padding)))
      }
      .partitionBy(new HashPartitioner(reducers))
      .mapPartitions { fetched =>
        var count = 0
        var total = 0
        fetched.foreach { case (_, (number, bytes)) =>
          require(bytes.length == padding)
          count += 1
          total += number
        }
        Iterator(count -> total)
      }
      .collect()
      .toSeq

  /** The result of `paddedBlocks`. */
  def paddedAnswer(maps: Int, reducers: Int, records: Int): Seq[(Int, Int)] =
    Seq.fill(reducers)(maps * records -> maps * records * (records - 1) / 2)

  /** A shuffle that is read many times. */
  def reduced(sc: SparkContext): RDD[(Int, Long)] = pairs(sc, 20_000).reduceByKey(_ + _, 4)

  /** The id of the shuffle that an RDD reads. */
  def shuffleId(shuffled: RDD[_]): Int =
    shuffled.dependencies.collectFirst { case shuffle: ShuffleDependency[_, _, _] =>
      shuffle.shuffleId
    }.get

  private def noise(seed: Int, length: Int): Array[Byte] = {
    val bytes = new Array[Byte](length)
    new Random(seed).nextBytes(bytes)
    bytes
  }

  private def pairs(sc: SparkContext, count: Int): RDD[(Int, Long)] =
    sc.parallelize(0 until count, 6).map(i => (scrambled(i) % 1_000, i.toLong))

  private def table(session: SparkSession, count: Int): DataFrame =
    session
      .range(0, count, 1, 6)
      .select(((col("id") * 2654435761L) % 1_000).cast("int").as("key"), col("id").as("value"))

  private def scrambled(i: Int): Int = (i * 0x9e3779b1) >>> 8

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
