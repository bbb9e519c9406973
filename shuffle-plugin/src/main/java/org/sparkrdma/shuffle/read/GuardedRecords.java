// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.TaskContext;
import org.sparkrdma.shuffle.links.LinkEdge;
import scala.collection.Iterator;

/**
 * Records of the plug-in's reader. When a member of Spark is missing before the first one was read,
 * those of Spark's reader follow instead; later the task fails, and the next attempt uses Spark's
 * reader. Confined to the task's thread.
 */
final class GuardedRecords<T> extends InterruptibleIterator<T> {
  private final LinkEdge edge;
  private final Supplier<Iterator<T>> sparks;
  private final BooleanSupplier begun;

  /** Those of Spark's reader; null while no member is missing. */
  private Iterator<T> instead;

  /**
   * @param begun whether a record was read, perhaps by a function of the job
   * @param sparks reads the same with Spark's reader
   */
  GuardedRecords(
      TaskContext context,
      Iterator<T> records,
      BooleanSupplier begun,
      LinkEdge edge,
      Supplier<Iterator<T>> sparks) {
    super(context, records);
    this.begun = begun;
    this.edge = edge;
    this.sparks = sparks;
  }

  @Override
  public boolean hasNext() {
    try {
      return instead == null ? super.hasNext() : instead.hasNext();
    } catch (LinkageError e) {
      useSparks(e);
      return instead.hasNext();
    }
  }

  @Override
  public T next() {
    try {
      return instead == null ? super.next() : instead.next();
    } catch (LinkageError e) {
      useSparks(e);
      return instead.next();
    }
  }

  private void useSparks(LinkageError error) {
    edge.take(error);
    if (begun.getAsBoolean() || instead != null) {
      throw error;
    }
    instead = sparks.get();
  }
}
