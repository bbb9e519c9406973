// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Locale;
import java.util.NoSuchElementException;
import org.apache.spark.status.AppStatusStore;
import org.apache.spark.status.api.v1.StageData;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.WebUIPage;
import org.sparkrdma.shuffle.figures.ApplicationFigures;
import org.sparkrdma.shuffle.spark.ui.PageFrame;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.xml.Node;
import scala.xml.Unparsed;

/**
 * The tab, at {@code /rdma-shuffle/}, and its page. Loaded only where Spark has such pages ({@link
 * org.sparkrdma.shuffle.spark.ui.UiSupport}). Called by the threads of the server.
 */
final class RdmaTab extends SparkUITab {
  private static final String TITLE = "RDMA shuffle";

  private final AppStatusStore store;
  private final ApplicationFigures figures;

  private RdmaTab(SparkUI ui, ApplicationFigures figures) {
    super(ui, "rdma-shuffle");
    this.store = ui.store();
    this.figures = figures;
    attachPage(new Page());
  }

  /** Adds the tab to a UI. */
  static void attach(SparkUI ui, ApplicationFigures figures) {
    ui.attachTab(new RdmaTab(ui, figures));
  }

  @Override
  public String name() {
    return TITLE;
  }

  /** The page, in the frame of Spark's own pages. */
  private final class Page extends WebUIPage {
    private final PageFrame frame = new PageFrame();

    Page() {
      super("");
    }

    @Override
    public Seq<Node> render(HttpServletRequest request) {
      String html =
          new PageContent(
                  figures.snapshot(),
                  figures.totals(),
                  stageId -> stage(request, stageId),
                  request.getParameter("all") != null)
              .html();
      Seq<Node> content = Nil$.MODULE$.$colon$colon(new Unparsed(html));
      return frame.around(content, request, TITLE, RdmaTab.this);
    }

    /** What Spark's store has of a stage; it forgets the earliest. */
    private PageContent.SparkStage stage(HttpServletRequest request, int stageId) {
      try {
        StageData stage = store.lastStageAttempt(stageId);
        long waitMs = stage.shuffleFetchWaitTime();
        String share = Html.percent(waitMs, stage.executorRunTime());
        String page = "/stages/stage/?id=" + stageId + "&attempt=" + stage.attemptId();
        String url = frame.url(request, RdmaTab.this, page);
        return new PageContent.SparkStage(
            "<a href=\"" + Html.escape(url) + "\">" + stageId + "</a>",
            stage.name(),
            waitMs,
            Html.unbroken(String.format(Locale.ROOT, "%.1f s (%s)", waitMs / 1e3, share)));
      } catch (NoSuchElementException e) {
        return new PageContent.SparkStage("" + stageId, "", -1, "");
      }
    }
  }
}
