// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.history;

import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.status.AppHistoryServerPlugin;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.ui.SparkUI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.spark.ui.SparkHistoryListeners;
import org.sparkrdma.shuffle.spark.ui.UiSupport;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;
import org.sparkrdma.shuffle.ui.page.RdmaTab;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.BoxedUnit;

/**
 * Adds the tab to applications in a History Server that has this jar on its class path. Spark finds
 * it as a service. On Spark 3.5 it does nothing. Stateless.
 */
public final class RdmaHistoryPlugin implements AppHistoryServerPlugin, SparkHistoryListeners {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaHistoryPlugin.class);

  /** The tab is placed after Spark's own tabs. */
  private static final int DISPLAY_ORDER = 100;

  /** Called by Spark. */
  public RdmaHistoryPlugin() {}

  @Override
  @SuppressWarnings("unchecked")
  public Seq<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store) {
    Seq<SparkListener> none = (Seq<SparkListener>) (Seq<?>) Nil$.MODULE$;
    if (!UiSupport.hasPages()) {
      return none;
    }
    ApplicationFigures figures = new ApplicationFigures();
    store.onFlush(
        () -> {
          if (!figures.isEmpty()) {
            store.write(FigureStore.entry(figures));
          }
          return BoxedUnit.UNIT;
        });
    return Nil$.MODULE$.$colon$colon(new ReplayListener(figures));
  }

  @Override
  public void setupUI(SparkUI ui) {
    try {
      if (UiSupport.hasPages()) {
        attach(ui);
      }
    } catch (Throwable e) {
      // Also a LinkageError: the History Server must show its own pages.
      LOG.warn("Spark's UI does not show the RDMA shuffle; metrics and logs have its figures", e);
    }
  }

  private static void attach(SparkUI ui) {
    ApplicationFigures figures = FigureStore.read(ui.store().store());
    if (figures != null) {
      RdmaTab.attach(ui, figures, figures::lastTimeMs);
    }
  }

  @Override
  public int displayOrder() {
    return DISPLAY_ORDER;
  }
}
