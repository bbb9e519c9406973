// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.live;

import java.util.List;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;
import org.sparkrdma.shuffle.ui.page.RdmaTab;

/**
 * The tab of a running application, and the events for the History Server. Not used on Spark 3.5,
 * which cannot load the classes of the tab. Safe for any thread.
 */
final class ShuffleUi {
  private final ApplicationFigures figures;
  private final EventPosts posts;

  /** Used with the lock of {@link #posts}. */
  private final StageReports stages = new StageReports();

  /**
   * Adds the tab to the UI of an application, if it has one.
   *
   * @param figures to show
   * @param notes sentences for the first event
   */
  ShuffleUi(SparkContext context, ApplicationFigures figures, List<String> notes) {
    this.figures = figures;
    this.posts = new EventPosts(event -> context.listenerBus().post(event), figures::bytes, notes);
    if (context.ui().isDefined()) {
      RdmaTab.attach(context.ui().get(), figures, System::currentTimeMillis);
    }
  }

  /**
   * Takes the figures that an executor has sent.
   *
   * @param ofStages bytes by stage; null without any
   */
  void report(String executorId, Map<String, Object> ofExecutor, Object ofStages, long nowMs) {
    synchronized (posts) {
      posts.add(executorId, ofExecutor);
      stages
          .increments(executorId, ofStages)
          .forEach((id, more) -> posts.addStage(id, figures.addReceived(id, more)));
      posts.postIfDue(nowMs);
    }
  }

  /** The executor has ended. */
  void remove(String executorId) {
    synchronized (posts) {
      posts.remove(executorId);
      stages.remove(executorId);
    }
  }

  /** Posts an event when it is time. */
  void postIfDue() {
    synchronized (posts) {
      posts.postIfDue(System.currentTimeMillis());
    }
  }

  /** Posts what has changed since the last event: the application ends. */
  void postLast() {
    synchronized (posts) {
      posts.postLast(System.currentTimeMillis());
    }
  }
}
