// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerBlockManagerAdded;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.storage.BlockManagerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.sparkrdma.shuffle.figures.ApplicationFigures;
import org.sparkrdma.shuffle.links.LinkCheck;
import org.sparkrdma.shuffle.links.LinkPart;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.spark.ui.UiSupport;

/**
 * Receives on the driver what {@code figures.FigureSender} sends, and collects the figures of a
 * running application: the metrics {@code rdma.application}, one summary line at the end, and where
 * this Spark has pages also the tab and the events for the History Server. Created by {@code
 * DriverSide}; lives as long as the SparkContext. Safe for any thread.
 */
public final class FigureReceiver {
  private static final Logger LOG = LoggerFactory.getLogger(FigureReceiver.class);

  /**
   * Tasks send their executor's figures at their end, so the wait is milliseconds on a host that is
   * not overloaded. {@code SparkContext.stop()} waits, too.
   */
  private static final Duration LAST_REPORTS = Duration.ofSeconds(1);

  private static final String NO_TAB =
      "Spark's UI does not show the RDMA shuffle; metrics and logs have its figures: {}";

  private final ApplicationFigures figures = new ApplicationFigures(true);
  private final EventPosts posts;
  private final Predicate<String> reporters;
  private final List<String> notes;
  private final FiguresListener live;

  private FigureReceiver(
      SparkContext context,
      Supplier<Map<String, String>> hosts,
      List<String> notes,
      Predicate<String> reporters,
      boolean hasPages,
      boolean told) {
    this.reporters = reporters;
    this.notes = notes;
    notes.forEach(figures::note);
    SparkEnv.get()
        .metricsSystem()
        .registerSource(new ApplicationMetricsSource(figures::totals, System::nanoTime));
    posts =
        new EventPosts(
            figures, hasPages ? event -> context.listenerBus().post(event) : event -> {});
    if (hasPages) {
      showTab(context);
    }
    live = new LiveListener(told);
    context.addSparkListener(live);
    // After the listener, which receives those that register from now on.
    startAll(hosts);
  }

  private void showTab(SparkContext context) {
    try {
      if (context.ui().isDefined()) {
        RdmaTab.attach(context.ui().get(), figures);
      }
    } catch (RuntimeException | LinkageError e) {
      LOG.warn(NO_TAB, e.getMessage(), e);
    }
  }

  /** A query that fails costs only the hosts of the executors that run already. */
  private void startAll(Supplier<Map<String, String>> hosts) {
    try {
      hosts.get().forEach(figures::start);
    } catch (Exception | LinkageError e) {
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
   * @param notes sentences for the top of the tab and the end of the summary
   * @param reporters whether an executor sends figures; the end waits for those of its last tasks
   * @return empty where Spark refuses
   */
  public static Optional<FigureReceiver> start(
      SparkContext context,
      Supplier<Map<String, String>> hosts,
      List<String> notes,
      Predicate<String> reporters) {
    return start(context, hosts, notes, reporters, UiSupport.hasPages());
  }

  /**
   * The same.
   *
   * @param hasPages whether this Spark has the page API of the tab
   */
  static Optional<FigureReceiver> start(
      SparkContext context,
      Supplier<Map<String, String>> hosts,
      List<String> notes,
      Predicate<String> reporters,
      boolean hasPages) {
    List<String> missing = hasPages ? LinkCheck.missing(LinkPart.UI) : List.of();
    boolean told = !missing.isEmpty();
    if (told) {
      LOG.warn(NO_TAB, MissingLinks.describe(missing));
    }
    try {
      return Optional.of(
          new FigureReceiver(context, hosts, notes, reporters, hasPages && !told, told));
    } catch (RuntimeException | LinkageError e) {
      // Of a version of Spark that is not known: the job must run without it.
      LOG.atLevel(told ? Level.DEBUG : Level.WARN)
          .setCause(e)
          .log("The driver collects no figures of the RDMA shuffle; executors log theirs: {}", e);
      return Optional.empty();
    }
  }

  /** An executor has sent its figures. */
  public void report(String executorId, Map<String, Object> reported) {
    figures.report(executorId, reported);
    posts.post(System.currentTimeMillis(), false);
  }

  /**
   * An executor has ended; it may have been removed long ago.
   *
   * @param reason Spark's; null when Spark only does not know it any more
   */
  public void end(String executorId, String reason) {
    live.guarded(
        () -> {
          if (reason == null) {
            figures.removeLost(executorId);
          } else {
            figures.remove(executorId, reason);
          }
        });
  }

  private final class LiveListener extends FiguresListener {
    LiveListener(boolean told) {
      super(FigureReceiver.this.figures, told);
    }

    /** Finds an executor that was added before this listener, and registers afterwards. */
    @Override
    public void onBlockManagerAdded(SparkListenerBlockManagerAdded added) {
      guarded(() -> start(added.blockManagerId()));
    }

    private void start(BlockManagerId manager) {
      // "fallback" is Spark's FallbackStorage.
      if (!manager.isDriver() && !manager.executorId().equals("fallback")) {
        figures.start(manager.executorId(), manager.host());
      }
    }

    @Override
    public void onJobEnd(SparkListenerJobEnd end) {
      guarded(() -> posts.post(System.currentTimeMillis(), false));
    }

    /**
     * Waits for the figures of tasks that have just ended. What comes later is lost for the summary
     * and for the History Server. Spark drops events from its own end on, so the figures that are
     * here are posted before the wait, and only those that come in it afterwards.
     */
    @Override
    public void onApplicationEnd(SparkListenerApplicationEnd end) {
      guarded(() -> posts.post(System.currentTimeMillis(), true));
      try {
        figures.awaitReports(LAST_REPORTS, reporters);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      LOG.info(
          "Shuffle of this application: {}{}",
          figures.totals().summary(),
          notes.isEmpty() ? "" : " notes=" + notes);
      guarded(() -> posts.post(System.currentTimeMillis(), true));
    }
  }
}
