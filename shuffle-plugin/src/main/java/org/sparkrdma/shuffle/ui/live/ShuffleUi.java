// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.live;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;
import org.sparkrdma.shuffle.ui.figures.FiguresListener;
import org.sparkrdma.shuffle.ui.page.RdmaTab;
import org.sparkrdma.shuffle.ui.page.UiSupport;

/**
 * The tab of a running application, and the events for the History Server. Created by the driver's
 * shuffle manager; lives as long as the SparkContext. Safe for any thread.
 */
public final class ShuffleUi {
  private static final Logger LOG = LoggerFactory.getLogger(ShuffleUi.class);

  private final ApplicationFigures figures = new ApplicationFigures();
  private final EventPosts posts;

  /** Used with the lock of {@link #posts}. */
  private final StageReports stages = new StageReports();

  private ShuffleUi(SparkContext context, List<String> notes) {
    this.posts = new EventPosts(event -> context.listenerBus().post(event), notes);
    notes.forEach(figures::note);
    if (!context.isLocal()) {
      context
          .getExecutorIds()
          .foreach(
              executorId -> {
                figures.start(executorId);
                return null;
              });
    }
    SparkEnv.get().metricsSystem().registerSource(new ApplicationMetricsSource(figures::totals));
    if (context.ui().isDefined()) {
      RdmaTab.attach(context.ui().get(), figures, System::currentTimeMillis);
    }
    context.addSparkListener(new LiveListener());
  }

  /**
   * Adds the tab to the UI of an application.
   *
   * @param notes sentences for the top of the page
   * @return empty where Spark has no such tabs, or refuses
   */
  public static Optional<ShuffleUi> attach(SparkContext context, List<String> notes) {
    if (!UiSupport.hasPages()) {
      LOG.info("This version of Spark gets no tab for the RDMA shuffle; metrics and logs have it");
      return Optional.empty();
    }
    try {
      return Optional.of(new ShuffleUi(context, notes));
    } catch (Throwable e) {
      // Also a LinkageError of a version of Spark that is not known: the job must run without it.
      LOG.warn("Spark's UI gets no tab for the RDMA shuffle; metrics and logs have it", e);
      return Optional.empty();
    }
  }

  /** An executor has sent its figures. */
  public void report(String executorId, Map<String, Object> reported) {
    long nowMs = System.currentTimeMillis();
    Map<String, Object> ofExecutor = new LinkedHashMap<>(reported);
    Object ofStages = ofExecutor.remove(Figure.STAGES);
    figures.report(executorId, ofExecutor, nowMs);
    synchronized (posts) {
      posts.add(executorId, ofExecutor);
      stages
          .increments(executorId, ofStages)
          .forEach((id, more) -> posts.addStage(id, figures.addReceived(id, more)));
      posts.postIfDue(nowMs);
    }
  }

  private final class LiveListener extends FiguresListener {
    LiveListener() {
      super(figures);
    }

    @Override
    public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
      super.onExecutorRemoved(removed);
      guarded(
          () -> {
            synchronized (posts) {
              posts.remove(removed.executorId());
              stages.remove(removed.executorId());
            }
          });
    }

    @Override
    public void onJobEnd(SparkListenerJobEnd end) {
      guarded(
          () -> {
            synchronized (posts) {
              posts.postIfDue(System.currentTimeMillis());
            }
          });
    }

    /** The last event; figures that come later are lost for the History Server. */
    @Override
    public void onApplicationEnd(SparkListenerApplicationEnd end) {
      LOG.info("Shuffle of this application: {}", figures.totals().summary());
      guarded(
          () -> {
            synchronized (posts) {
              posts.post(System.currentTimeMillis());
            }
          });
    }
  }
}
