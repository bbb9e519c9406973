// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster.job;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.apache.spark.Aggregator;
import org.apache.spark.HashPartitioner;
import org.apache.spark.Partition;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.rdd.RDD;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import scala.Function1;
import scala.Function2;
import scala.Product2;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.math.Ordering;
import scala.math.Ordering$;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * One shuffle for each way in which a reader combines and sorts. The answers are the same in each
 * run where tasks run one after the other: also those of Spark 4, which gives a key more than once
 * when the sorter spills and different keys are equal in its order.
 */
final class CombinedShuffles {
  private static final int MAPS = 3;
  private static final int PARTITIONS = 4;
  private static final int KEYS = 1_009;

  /** The first number is below the setting of the test from which a sorter spills. */
  private static final List<Integer> RECORDS = List.of(150, 6_000);

  private CombinedShuffles() {}

  /** What orders the keys of a partition. */
  private enum Order {
    NONE(null),
    TOTAL(key -> key),
    PARTIAL(key -> key % 10);

    private final transient Comparator<Object> comparator;

    Order(Rank rank) {
      comparator = rank == null ? null : new ByRank(rank);
    }
  }

  private interface Rank extends Serializable {
    int of(int key);
  }

  private record ByRank(Rank rank) implements Comparator<Object>, Serializable {
    @Override
    public int compare(Object one, Object other) {
      return Integer.compare(rank.of((Integer) one), rank.of((Integer) other));
    }
  }

  private enum Combine {
    NONE,
    REDUCE_SIDE,
    BOTH_SIDES
  }

  /** Rows of each partition and the figures of its reader, one line for each shuffle. */
  static List<String> answers(JavaSparkContext spark) {
    List<String> answers = new ArrayList<>();
    for (Order order : Order.values()) {
      for (Combine combine : Combine.values()) {
        for (int records : RECORDS) {
          for (boolean batch : new boolean[] {false, true}) {
            String name = order + " " + combine + " " + records + (batch ? " in batches" : "");
            answers.add(name + ": " + answer(spark, order, combine, records, batch));
          }
        }
      }
    }
    return answers;
  }

  private static List<String> answer(
      JavaSparkContext spark, Order order, Combine combine, int records, boolean batch) {
    ShuffledRDD<Object, Object, Object> shuffled = shuffled(spark, order, combine, records);
    spark.setLocalProperty(
        SortShuffleManager.FETCH_SHUFFLE_BLOCKS_IN_BATCH_ENABLED_KEY(), Boolean.toString(batch));
    Comparator<Object> comparator = order.comparator;
    return JavaRDD.fromRDD(new Ranges(shuffled, batch ? 2 : 1), tag())
        .mapPartitions(read -> List.of(summary(read, comparator)).iterator())
        .collect();
  }

  /** The shuffle, of which nothing is computed yet. */
  private static ShuffledRDD<Object, Object, Object> shuffled(
      JavaSparkContext spark, Order order, Combine combine, int records) {
    JavaPairRDD<Object, Object> written =
        spark
            .parallelize(IntStream.range(0, records).boxed().toList(), MAPS)
            .mapToPair(i -> new Tuple2<>(i * 7_919 % KEYS, (long) i));
    ShuffledRDD<Object, Object, Object> shuffled =
        new ShuffledRDD<>(written.rdd(), new HashPartitioner(PARTITIONS), tag(), tag(), tag());
    // Only records of this serializer may be fetched in batches.
    shuffled.setSerializer(new KryoSerializer(spark.getConf()));
    if (order != Order.NONE) {
      Ordering<Object> ordering = Ordering$.MODULE$.comparatorToOrdering(order.comparator);
      shuffled.setKeyOrdering(ordering);
    }
    if (combine != Combine.NONE) {
      Function1<Object, Object> first = (Function1<Object, Object> & Serializable) value -> value;
      Function2<Object, Object, Object> sum =
          (Function2<Object, Object, Object> & Serializable) (a, b) -> (Long) a + (Long) b;
      shuffled.setAggregator(new Aggregator<>(first, sum, sum));
      shuffled.setMapSideCombine(combine == Combine.BOTH_SIDES);
    }
    return shuffled;
  }

  private static String summary(
      java.util.Iterator<Tuple2<Object, Object>> read, Comparator<Object> order) {
    List<String> rows = new ArrayList<>();
    Set<Object> keys = new HashSet<>();
    Object last = null;
    boolean sorted = true;
    while (read.hasNext()) {
      Tuple2<Object, Object> row = read.next();
      sorted &= order == null || last == null || order.compare(last, row._1()) <= 0;
      last = row._1();
      keys.add(last);
      rows.add(row._1() + "=" + row._2());
    }
    // The order of other rows says nothing.
    Collections.sort(rows);
    CRC32 checksum = new CRC32();
    checksum.update(rows.toString().getBytes(StandardCharsets.UTF_8));
    TaskMetrics metrics = TaskContext.get().taskMetrics();
    return "%d rows, %d keys, checksum %08x, sorted %s, read %d records in %d blocks, spilled %s"
        .formatted(
            rows.size(),
            keys.size(),
            checksum.getValue(),
            sorted,
            metrics.shuffleReadMetrics().recordsRead(),
            metrics.shuffleReadMetrics().localBlocksFetched(),
            metrics.memoryBytesSpilled() > 0 && metrics.diskBytesSpilled() > 0);
  }

  @SuppressWarnings("unchecked")
  private static <T> ClassTag<T> tag() {
    return (ClassTag<T>) ClassTag$.MODULE$.Object();
  }

  private record Range(int index) implements Partition {}

  /** Reads several partitions of a shuffle in each task, as adaptive execution does. */
  private static final class Ranges extends RDD<Tuple2<Object, Object>> {
    private static final long serialVersionUID = 1;

    private final ShuffleDependency<Object, Object, Object> dependency;
    private final int width;

    @SuppressWarnings("unchecked")
    Ranges(ShuffledRDD<Object, Object, Object> shuffled, int width) {
      super(shuffled, tag());
      try {
        // What it returns differs between Scala 2.12 and 2.13.
        Seq<?> dependencies = (Seq<?>) RDD.class.getMethod("dependencies").invoke(shuffled);
        this.dependency =
            (ShuffleDependency<Object, Object, Object>) dependencies.iterator().next();
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
      this.width = width;
    }

    @Override
    public Partition[] getPartitions() {
      return IntStream.range(0, PARTITIONS / width).mapToObj(Range::new).toArray(Partition[]::new);
    }

    @Override
    @SuppressWarnings("unchecked")
    public Iterator<Tuple2<Object, Object>> compute(Partition split, TaskContext context) {
      int first = split.index() * width;
      ShuffleReader<Object, Object> reader =
          SparkEnv.get()
              .shuffleManager()
              .getReader(
                  dependency.shuffleHandle(),
                  0,
                  Integer.MAX_VALUE,
                  first,
                  first + width,
                  context,
                  context.taskMetrics().createTempShuffleReadMetrics());
      boolean plugIns = SparkEnv.get().shuffleManager().getClass().getName().contains("Rdma");
      if (reader.getClass().getName().contains("Rdma") != plugIns) {
        throw new IllegalStateException("the records are read by " + reader);
      }
      Iterator<? extends Product2<Object, Object>> records = reader.read();
      return (Iterator<Tuple2<Object, Object>>) records;
    }
  }
}
