// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.page;

import jakarta.servlet.http.HttpServletRequest;
import java.util.function.LongSupplier;
import org.apache.spark.ui.WebUIPage;
import org.sparkrdma.shuffle.spark.ui.PageFrame;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.xml.Node;
import scala.xml.Unparsed;

/** The page of the tab, in the frame of Spark's own pages. Called by the threads of the server. */
final class RdmaPage extends WebUIPage {
  static final String TITLE = "RDMA shuffle";

  private final PageFrame frame = new PageFrame();
  private final RdmaTab tab;
  private final ApplicationFigures figures;
  private final LongSupplier nowMs;

  RdmaPage(RdmaTab tab, ApplicationFigures figures, LongSupplier nowMs) {
    super("");
    this.tab = tab;
    this.figures = figures;
    this.nowMs = nowMs;
  }

  @Override
  public Seq<Node> render(HttpServletRequest request) {
    Seq<Node> content = Nil$.MODULE$.$colon$colon(new Unparsed(content()));
    return frame.around(content, request, TITLE, tab);
  }

  private String content() {
    return new PageContent(figures.snapshot(nowMs.getAsLong())).html();
  }
}
