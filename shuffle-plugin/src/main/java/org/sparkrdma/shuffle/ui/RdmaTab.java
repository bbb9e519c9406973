// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import jakarta.servlet.http.HttpServletRequest;
import org.apache.spark.SparkContext;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.WebUIPage;
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
  private static final String PREFIX = "rdma-shuffle";
  private static final String TITLE = "RDMA shuffle";

  private RdmaTab(SparkUI ui) {
    super(ui, PREFIX);
  }

  /** Adds the tab to the UI of a running application, if it has one. */
  static void attach(SparkContext context, ApplicationFigures figures) {
    if (context.ui().isDefined()) {
      attach(context.ui().get(), figures);
    }
  }

  /** Adds the tab to a UI. */
  static void attach(SparkUI ui, ApplicationFigures figures) {
    RdmaTab tab = new RdmaTab(ui);
    tab.attachPage(new Page(tab, figures));
    ui.attachTab(tab);
  }

  @Override
  public String name() {
    return TITLE;
  }

  /** The page, in the frame of Spark's own pages. */
  private static final class Page extends WebUIPage {
    private final PageFrame frame = new PageFrame();
    private final RdmaTab tab;
    private final ApplicationFigures figures;

    Page(RdmaTab tab, ApplicationFigures figures) {
      super("");
      this.tab = tab;
      this.figures = figures;
    }

    @Override
    public Seq<Node> render(HttpServletRequest request) {
      String html = new PageContent(figures.snapshot(), figures.totals()).html();
      Seq<Node> content = Nil$.MODULE$.$colon$colon(new Unparsed(html));
      return frame.around(content, request, TITLE, tab);
    }
  }
}
