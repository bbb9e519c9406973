// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.page;

import java.util.function.LongSupplier;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;

/** The tab, at {@code /rdma-shuffle/}. Immutable. */
public final class RdmaTab extends SparkUITab {
  private static final String PREFIX = "rdma-shuffle";

  private RdmaTab(SparkUI ui) {
    super(ui, PREFIX);
  }

  /** Adds the tab to a UI. */
  public static void attach(SparkUI ui, ApplicationFigures figures, LongSupplier nowMs) {
    RdmaTab tab = new RdmaTab(ui);
    tab.attachPage(new RdmaPage(tab, figures, nowMs));
    ui.attachTab(tab);
  }

  @Override
  public String name() {
    return RdmaPage.TITLE;
  }
}
