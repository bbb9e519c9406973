// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.NoSuchElementException;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.status.AppHistoryServerPlugin;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.util.kvstore.KVStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.figures.ApplicationFigures;
import org.sparkrdma.shuffle.figures.Snapshot;
import org.sparkrdma.shuffle.spark.ui.SparkHistoryListeners;
import org.sparkrdma.shuffle.spark.ui.UiSupport;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.BoxedUnit;

/**
 * Adds the tab to applications in a History Server that has this jar on its class path: replays the
 * events that {@link EventPosts} has written to a log, and keeps the figures in the History
 * Server's store. Spark finds it as a service. On Spark 3.5 it does nothing. Stateless.
 */
public final class RdmaHistoryPlugin implements AppHistoryServerPlugin, SparkHistoryListeners {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaHistoryPlugin.class);

  /** A store on disk may be that of another version. */
  private static final ObjectMapper MAPPER =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  @Override
  @SuppressWarnings("unchecked")
  public Seq<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store) {
    Seq<SparkListener> none = (Seq<SparkListener>) (Seq<?>) Nil$.MODULE$;
    if (!UiSupport.hasPages()) {
      return none;
    }
    ApplicationFigures figures = new ApplicationFigures(false);
    store.onFlush(
        () -> {
          if (!figures.isEmpty()) {
            store.write(entry(figures));
          }
          return BoxedUnit.UNIT;
        });
    return Nil$.MODULE$.$colon$colon(new ReplayListener(figures));
  }

  @Override
  public void setupUI(SparkUI ui) {
    try {
      ApplicationFigures figures = UiSupport.hasPages() ? read(ui.store().store()) : null;
      if (figures != null) {
        RdmaTab.attach(ui, figures);
      }
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("Spark's UI does not show the RDMA shuffle; metrics and logs have its figures", e);
    }
  }

  /** The figures for the store. */
  static StoredFigures entry(ApplicationFigures figures) {
    StoredFigures stored = new StoredFigures();
    try {
      stored.json = MAPPER.writeValueAsString(figures.snapshot());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("cannot encode maps of lists, numbers and strings", e);
    }
    return stored;
  }

  /** The figures in a store; null when it has none, or unreadable ones. */
  static ApplicationFigures read(KVStore store) {
    try {
      StoredFigures stored = store.read(StoredFigures.class, StoredFigures.KEY);
      return new ApplicationFigures(MAPPER.readValue(stored.json, Snapshot.class));
    } catch (NoSuchElementException e) {
      return null;
    } catch (Exception e) {
      LOG.warn("Cannot read the figures of the RDMA shuffle from the History Server's store", e);
      return null;
    }
  }

  /** Fills the figures from an event log. Confined to the thread that replays. */
  static final class ReplayListener extends FiguresListener {
    ReplayListener(ApplicationFigures figures) {
      super(figures, false);
    }

    @Override
    public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
      guarded(() -> figures.remove(removed.executorId(), removed.reason()));
    }

    @Override
    public void onApplicationEnd(SparkListenerApplicationEnd end) {
      figures.end();
    }

    @Override
    public void onOtherEvent(SparkListenerEvent other) {
      if (other instanceof RdmaShuffleEvent event) {
        guarded(() -> add(event));
      }
    }

    private void add(RdmaShuffleEvent event) {
      event.notes().forEach(figures::note);
      if (event.schema > RdmaShuffleEvent.SCHEMA) {
        figures.note(
            "a later version of the plug-in wrote this log; what this version does not know is not"
                + " shown");
      }
      event.changes.figures().forEach(figures::report);
      event.changes.sparkExecutors().forEach(figures::replay);
      event.changes.stages().forEach(figures::replay);
      figures.replay(event.timeMs(), event.changes.totals());
    }
  }
}
