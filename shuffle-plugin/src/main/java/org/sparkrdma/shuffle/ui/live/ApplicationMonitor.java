// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.live;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerBlockManagerAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.storage.BlockManagerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.spark.ui.UiSupport;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;
import org.sparkrdma.shuffle.ui.figures.FiguresListener;

/**
 * Collects the figures of a running application on the driver: the metrics {@code
 * rdma.application}, one summary line at the end, and where this Spark has pages also {@link
 * ShuffleUi}. Created by the driver's shuffle manager; lives as long as the SparkContext. Safe for
 * any thread.
 */
public final class ApplicationMonitor {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationMonitor.class);

  private final ApplicationFigures figures = new ApplicationFigures();
  private final Optional<ShuffleUi> ui;
  private final Duration lastReports;

  private ApplicationMonitor(
      SparkContext context,
      Supplier<Map<String, String>> hosts,
      List<String> notes,
      Duration lastReports,
      boolean hasPages) {
    this.lastReports = lastReports;
    notes.forEach(figures::note);
    SparkEnv.get().metricsSystem().registerSource(new ApplicationMetricsSource(figures::totals));
    ui = hasPages ? ui(context, notes) : Optional.empty();
    context.addSparkListener(new LiveListener());
    // After the listener, which receives those that register from now on.
    startAll(hosts);
  }

  /** A query that fails costs only the hosts of the executors that run already. */
  private void startAll(Supplier<Map<String, String>> hosts) {
    try {
      hosts.get().forEach(figures::start);
    } catch (Throwable e) {
      // Spark asks another thread for them, and throws what its Java signature does not declare.
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      LOG.debug("Spark does not name the hosts of the executors that run already", e);
    }
  }

  /**
   * Begins to collect.
   *
   * @param hosts of the executors that run already, by executor id
   * @param notes sentences for the top of the tab
   * @param lastReports maximum wait for figures at the end, which {@code SparkContext.stop()} waits
   *     too; zero where executors send none
   * @return empty where Spark refuses
   */
  public static Optional<ApplicationMonitor> start(
      SparkContext context,
      Supplier<Map<String, String>> hosts,
      List<String> notes,
      Duration lastReports) {
    boolean hasPages = UiSupport.hasPages();
    if (!hasPages) {
      LOG.info(
          "The UI of this version of Spark does not show the RDMA shuffle; metrics and logs have its"
              + " figures");
    }
    return start(context, hosts, notes, lastReports, hasPages);
  }

  /**
   * The same.
   *
   * @param hasPages whether this Spark has the page API of the tab
   */
  static Optional<ApplicationMonitor> start(
      SparkContext context,
      Supplier<Map<String, String>> hosts,
      List<String> notes,
      Duration lastReports,
      boolean hasPages) {
    try {
      return Optional.of(new ApplicationMonitor(context, hosts, notes, lastReports, hasPages));
    } catch (Throwable e) {
      // Also a LinkageError of a version of Spark that is not known: the job must run without it.
      LOG.warn("The driver collects no figures of the RDMA shuffle; executors log theirs", e);
      return Optional.empty();
    }
  }

  private Optional<ShuffleUi> ui(SparkContext context, List<String> notes) {
    try {
      return Optional.of(new ShuffleUi(context, figures, notes));
    } catch (Throwable e) {
      // Also a LinkageError.
      LOG.warn("Spark's UI does not show the RDMA shuffle; metrics and logs have its figures", e);
      return Optional.empty();
    }
  }

  /** An executor has sent its figures. */
  public void report(String executorId, Map<String, Object> reported) {
    long nowMs = System.currentTimeMillis();
    Map<String, Object> ofExecutor = new LinkedHashMap<>(reported);
    Object ofStages = ofExecutor.remove(Figure.STAGES);
    figures.report(executorId, ofExecutor, nowMs);
    ui.ifPresent(shown -> shown.report(executorId, ofExecutor, ofStages, nowMs));
  }

  private final class LiveListener extends FiguresListener {
    LiveListener() {
      super(figures);
    }

    /** Finds an executor that was added before this listener, and registers afterwards. */
    @Override
    public void onBlockManagerAdded(SparkListenerBlockManagerAdded added) {
      BlockManagerId manager = added.blockManagerId();
      if (!manager.isDriver()) {
        guarded(() -> figures.start(manager.executorId(), manager.host()));
      }
    }

    @Override
    public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
      super.onExecutorRemoved(removed);
      guarded(() -> ui.ifPresent(shown -> shown.remove(removed.executorId())));
    }

    @Override
    public void onJobEnd(SparkListenerJobEnd end) {
      guarded(() -> ui.ifPresent(ShuffleUi::postIfDue));
    }

    /**
     * Waits for the figures of tasks that have just ended. What comes later is lost for the summary
     * and for the History Server. Spark drops events from its own end on, so the figures that are
     * here are posted before the wait, and only those that come in it afterwards.
     */
    @Override
    public void onApplicationEnd(SparkListenerApplicationEnd end) {
      guarded(() -> ui.ifPresent(ShuffleUi::postLast));
      try {
        figures.awaitReports(lastReports);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      LOG.info("Shuffle of this application: {}", figures.totals().summary());
      guarded(() -> ui.ifPresent(ShuffleUi::postLast));
    }
  }
}
