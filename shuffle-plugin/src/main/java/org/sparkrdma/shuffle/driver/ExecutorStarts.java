// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.driver;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerBlockManagerAdded;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.links.LinkCheck;
import org.sparkrdma.shuffle.links.LinkPart;

/**
 * Warns once when executors end before they register, because that is how executors of Spark 4 end
 * that cannot load the shuffle manager or the plug-in. Confined to the thread of its listener
 * queue.
 */
public final class ExecutorStarts extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorStarts.class);

  private static final String LISTENERS = "spark.extraListeners";

  /** Only what names it is a reason to blame the plug-in. */
  private static final String PACKAGE = "org.sparkrdma";

  /** Spark may drop the events that end a start. */
  private static final int MAX_STARTING = 1_000;

  /** Executors whose block manager has not registered. */
  private final Set<String> starting = new HashSet<>();

  private int endedAtStart;

  /**
   * Lets Spark create it with its context, because the first shuffle may never be reached. An error
   * about a method or field that Spark lacks would end the context.
   */
  public static void register(SparkConf conf) {
    if (!LinkCheck.missing(LinkPart.DRIVER).isEmpty()) {
      return;
    }
    List<String> others = otherListeners(conf);
    others.add(ExecutorStarts.class.getName());
    conf.set(LISTENERS, String.join(",", others));
  }

  /**
   * Spark creates it. Takes its name out again: an application without this jar may get the
   * configuration, such as from a streaming checkpoint.
   *
   * @param conf of the context
   */
  public ExecutorStarts(SparkConf conf) {
    List<String> others = otherListeners(conf);
    if (others.isEmpty()) {
      conf.remove(LISTENERS);
    } else {
      conf.set(LISTENERS, String.join(",", others));
    }
  }

  private static List<String> otherListeners(SparkConf conf) {
    String[] names = conf.get(LISTENERS, "").trim().split("\\s*,\\s*", -1);
    List<String> others = new ArrayList<>(List.of(names));
    others.removeIf(name -> name.isBlank() || name.equals(ExecutorStarts.class.getName()));
    return others;
  }

  @Override
  public void onExecutorAdded(SparkListenerExecutorAdded added) {
    if (starting.size() < MAX_STARTING) {
      starting.add(added.executorId());
    }
  }

  @Override
  public void onBlockManagerAdded(SparkListenerBlockManagerAdded added) {
    starting.remove(added.blockManagerId().executorId());
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    // The block manager may have registered before the shuffle manager is loaded.
    boolean failed = removed.reason().contains("Unable to create executor");
    if ((starting.remove(removed.executorId()) || failed) && ++endedAtStart == 2) {
      // One may end for another reason.
      LOG.warn(
          "Executors have ended before they registered, the last one because of {}: {} check that"
              + " each machine can read the plug-in's jar at the path in"
              + " spark.executor.extraClassPath or spark.jars",
          removed.reason(),
          removed.reason().contains(PACKAGE)
              ? "they cannot load the plug-in:"
              : "see the end of an executor's log; where it names " + PACKAGE + ",");
    }
  }
}
