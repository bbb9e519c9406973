// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * The executors of an application. By reflection, because the method returns a Seq, which is
 * another class in Scala 2.12 than in 2.13. Stateless.
 */
public final class ExecutorIds {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorIds.class);

  private ExecutorIds() {}

  /** Ids of the executors that run now; empty in local mode, and where Spark does not name them. */
  public static List<String> of(SparkContext context) {
    List<String> ids = new ArrayList<>();
    if (!context.isLocal()) {
      try {
        Object all = SparkContext.class.getMethod("getExecutorIds").invoke(context);
        for (Iterator<?> each = ((Seq<?>) all).iterator(); each.hasNext(); ) {
          ids.add((String) each.next());
        }
      } catch (ReflectiveOperationException e) {
        LOG.debug("Spark does not name its executors", e);
      }
    }
    return ids;
  }
}
