// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Function1;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** A round of a benchmark: a barrier job of two tasks, one in each executor. */
public final class BarrierRound {
  private static final int EXECUTORS = 2;

  private BarrierRound() {}

  /** The work of each of the two tasks. */
  @FunctionalInterface
  public interface Work<T> extends Serializable {
    /** Runs in the executor; returns what the driver needs. */
    List<T> run() throws IOException, InterruptedException;
  }

  /**
   * Runs the work in both executors and returns the results of both.
   *
   * @param round for messages of failures
   */
  public static <T> List<T> run(
      JavaSparkContext spark, int round, Work<T> work, Class<T> resultType) {
    return spark
        .parallelize(List.of(0, 1), EXECUTORS)
        .rdd()
        .barrier()
        .mapPartitions(
            (Function1<Iterator<Integer>, Iterator<T>> & Serializable)
                ignored -> results(round, work),
            false,
            ClassTag$.MODULE$.<T>apply(resultType))
        .toJavaRDD()
        .collect();
  }

  private static <T> Iterator<T> results(int round, Work<T> work) {
    try {
      return CollectionConverters.asScala(work.run().iterator());
    } catch (IOException e) {
      throw new UncheckedIOException("round %d failed".formatted(round), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted in round " + round, e);
    }
  }
}
