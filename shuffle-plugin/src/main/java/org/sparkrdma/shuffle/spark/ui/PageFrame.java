// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark.ui;

import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.UIUtils;
import org.sparkrdma.shuffle.spark.Reflected;
import scala.Function0;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.xml.Node;

/**
 * The frame of Spark's own pages, whose method has one more parameter in Spark 4.2. By reflection.
 * Not on Spark 3.5, see {@link UiSupport}. Immutable.
 */
public final class PageFrame {
  private final Method header = Reflected.PAGE_HEADER.method(UIUtils.class);

  /** Address of a page of the same application, behind any proxy. */
  public String url(HttpServletRequest request, SparkUITab tab, String page) {
    return UIUtils.prependBaseUri(request, tab.basePath(), page);
  }

  /** A whole page of a tab. */
  @SuppressWarnings("unchecked")
  public Seq<Node> around(
      Seq<Node> content, HttpServletRequest request, String title, SparkUITab tab) {
    Function0<Seq<Node>> supplier = () -> content;
    Object[] arguments = new Object[header.getParameterCount()];
    Arrays.fill(arguments, false);
    arguments[0] = request;
    arguments[1] = title;
    arguments[2] = supplier;
    arguments[3] = tab;
    arguments[4] = Option.empty();
    try {
      return (Seq<Node>) header.invoke(null, arguments);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Spark's frame for pages failed", e);
    }
  }
}
