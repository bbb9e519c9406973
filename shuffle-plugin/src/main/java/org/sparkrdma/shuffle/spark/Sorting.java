// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import org.apache.spark.Aggregator;
import org.apache.spark.Partitioner;
import org.apache.spark.TaskContext;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;
import scala.math.Ordering;

/** Sorts records by key in Spark's ExternalSorter, whose constructor grew in Spark 4.1. */
public final class Sorting {
  private static final Constructor<?> SORTER = ExternalSorter.class.getConstructors()[0];

  private Sorting() {}

  /**
   * The records by key, combined where there is an aggregator; spills and metrics are Spark's.
   *
   * @param <K> of keys
   * @param <V> of values before combining
   * @param <C> of values after combining
   */
  public static <K, V, C> Iterator<Product2<K, C>> sorted(
      TaskContext context,
      Option<Aggregator<K, V, C>> aggregator,
      Ordering<K> ordering,
      Serializer serializer,
      Iterator<Product2<K, V>> records) {
    return Sorting.<K, V, C>sorter(context, aggregator, ordering, serializer)
        .insertAllAndUpdateMetrics(records);
  }

  @SuppressWarnings("unchecked")
  private static <K, V, C> ExternalSorter<K, V, C> sorter(
      TaskContext context,
      Option<Aggregator<K, V, C>> aggregator,
      Ordering<K> ordering,
      Serializer serializer) {
    Class<?>[] types = SORTER.getParameterTypes();
    boolean hasChecksums = types.length == 6 && types[5].isArray();
    if (types.length != 5 && !hasChecksums) {
      throw new NoSuchMethodError("constructor of Spark's sorter: " + SORTER);
    }
    Object[] arguments = new Object[types.length];
    arguments[0] = context;
    arguments[1] = aggregator;
    arguments[2] = Option.<Partitioner>empty();
    arguments[3] = Option.apply(ordering);
    arguments[4] = serializer;
    if (hasChecksums) {
      // Of a class that earlier versions lack.
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
