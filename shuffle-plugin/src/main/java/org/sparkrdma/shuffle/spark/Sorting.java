// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import org.apache.spark.Aggregator;
import org.apache.spark.Partitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.package$;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Function2;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;
import scala.math.Ordering;

/**
 * Combines and sorts the records of a reader as Spark's own reader of the same version does. Spark
 * 3 combines by hash and sorts the result; Spark 4 combines in the sorter, which gives a key more
 * than once when it spills and the order holds different keys for equal (SPARK-46512). The
 * constructor of the sorter grew in Spark 4.1. Stateless; called by task threads.
 */
public final class Sorting {
  private static final Constructor<?> SORTER = Reflected.SORTER.constructor(ExternalSorter.class);
  private static final boolean COMBINES_IN_SORTER =
      !package$.MODULE$.SPARK_VERSION().startsWith("3.");

  private Sorting() {}

  /**
   * What the shuffle requires of its records, or the records themselves; spills and metrics are
   * Spark's.
   *
   * @param <K> of keys
   * @param <C> of values after combining
   * @param records values are not combined where the shuffle does not combine on the map side
   */
  @SuppressWarnings("unchecked")
  public static <K, C> Iterator<Product2<K, C>> combinedAndSorted(
      TaskContext context, ShuffleDependency<K, ?, C> dependency, Iterator<?> records) {
    Option<? extends Aggregator<K, ?, C>> aggregator = dependency.aggregator();
    boolean sorts = dependency.keyOrdering().isDefined();
    boolean inSorter = sorts && COMBINES_IN_SORTER;
    Iterator<?> combined =
        aggregator.isEmpty() || inSorter ? records : combined(context, dependency, records);
    if (!sorts) {
      return (Iterator<Product2<K, C>>) combined;
    }
    Option<?> ofSorter = inSorter ? sortingAggregator(dependency) : Option.empty();
    // The type of values before combining is unknown and not needed.
    return Sorting.<K, Object, C>sorter(
            context,
            (Option<Aggregator<K, Object, C>>) ofSorter,
            dependency.keyOrdering().get(),
            dependency.serializer())
        .insertAllAndUpdateMetrics((Iterator<Product2<K, Object>>) combined);
  }

  @SuppressWarnings("unchecked")
  private static <K, C> Iterator<?> combined(
      TaskContext context, ShuffleDependency<K, ?, C> dependency, Iterator<?> records) {
    Aggregator<K, ?, C> aggregator = dependency.aggregator().get();
    return dependency.mapSideCombine()
        ? aggregator.combineCombinersByKey((Iterator<Product2<K, C>>) records, context)
        : ((Aggregator<K, Object, C>) aggregator)
            .combineValuesByKey((Iterator<Product2<K, Object>>) records, context);
  }

  /** Values that were combined on the map side are merged, not combined again. */
  private static <K, C> Option<?> sortingAggregator(ShuffleDependency<K, ?, C> dependency) {
    if (dependency.aggregator().isEmpty() || !dependency.mapSideCombine()) {
      return dependency.aggregator();
    }
    Function2<C, C, C> merge = dependency.aggregator().get().mergeCombiners();
    return Option.apply(new Aggregator<K, C, C>(combiner -> combiner, merge, merge));
  }

  @SuppressWarnings("unchecked")
  private static <K, V, C> ExternalSorter<K, V, C> sorter(
      TaskContext context,
      Option<Aggregator<K, V, C>> aggregator,
      Ordering<K> ordering,
      Serializer serializer) {
    Class<?>[] types = SORTER.getParameterTypes();
    Object[] arguments = new Object[types.length];
    arguments[0] = context;
    arguments[1] = aggregator;
    arguments[2] = Option.<Partitioner>empty();
    arguments[3] = Option.apply(ordering);
    arguments[4] = serializer;
    if (types.length == 6) {
      // Checksums, of a class that earlier versions lack.
      arguments[5] = Array.newInstance(types[5].getComponentType(), 0);
    }
    try {
      return (ExternalSorter<K, V, C>) SORTER.newInstance(arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw new IllegalStateException("Spark's sorter failed to start", e.getCause());
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      throw (LinkageError)
          new NoSuchMethodError("constructor of Spark's sorter: " + SORTER).initCause(e);
    }
  }
}
