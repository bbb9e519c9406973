// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.page;

import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.function.LongSupplier;
import org.apache.spark.ui.UIUtils;
import org.apache.spark.ui.WebUIPage;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;
import scala.Function0;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.xml.Node;
import scala.xml.Unparsed;

/** The page of the tab, in the frame of Spark's own pages. Called by the threads of the server. */
final class RdmaPage extends WebUIPage {
  static final String TITLE = "RDMA shuffle";

  /** The frame; Spark 4.2 added a parameter. */
  private static final Method HEADER =
      Arrays.stream(UIUtils.class.getMethods())
          .filter(method -> method.getName().equals("headerSparkPage"))
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("no frame for pages in this Spark"));

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
    Function0<Seq<Node>> supplier = () -> content;
    Object[] arguments = new Object[HEADER.getParameterCount()];
    Arrays.fill(arguments, false);
    arguments[0] = request;
    arguments[1] = TITLE;
    arguments[2] = supplier;
    arguments[3] = tab;
    arguments[4] = Option.empty();
    return frame(arguments);
  }

  private String content() {
    return new PageContent(figures.snapshot(nowMs.getAsLong())).html();
  }

  @SuppressWarnings("unchecked")
  private static Seq<Node> frame(Object[] arguments) {
    try {
      return (Seq<Node>) HEADER.invoke(null, arguments);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException("Spark's frame for pages failed", e.getCause());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("Spark's frame for pages is not accessible", e);
    }
  }
}
