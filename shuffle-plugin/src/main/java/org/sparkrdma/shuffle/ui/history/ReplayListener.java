// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.history;

import java.util.List;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.sparkrdma.shuffle.ui.RdmaShuffleEvent;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;
import org.sparkrdma.shuffle.ui.figures.BytesByPath;
import org.sparkrdma.shuffle.ui.figures.FiguresListener;

/** Fills the figures from an event log. Confined to the thread that replays. */
final class ReplayListener extends FiguresListener {
  private final ApplicationFigures figures;

  ReplayListener(ApplicationFigures figures) {
    super(figures);
    this.figures = figures;
  }

  @Override
  public void onOtherEvent(SparkListenerEvent other) {
    guarded(() -> add(other));
  }

  private void add(SparkListenerEvent other) {
    if (other instanceof RdmaShuffleEvent event) {
      event.notes().forEach(figures::note);
      if (event.hasLaterSchema()) {
        figures.note(
            "a later version of the plug-in wrote this log; what this version does not know is not"
                + " shown");
      }
      List<Long> totals = event.totals();
      if (!totals.isEmpty()) {
        figures.setTotal(
            new BytesByPath(totals.get(0), totals.get(1), totals.get(2), 0), event.timeMs());
      }
      figures.report(event.figures(), event.timeMs());
      for (List<Long> stage : event.stages()) {
        figures.setReceived(
            Math.toIntExact(stage.get(0)),
            new BytesByPath(stage.get(1), stage.get(2), stage.get(3), 0));
      }
    }
  }
}
