// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark.ui;

import org.apache.spark.ui.WebUIPage;
import org.sparkrdma.shuffle.spark.Reflected;

/** Whether this Spark has the page API that the tab was compiled for. Stateless. */
public final class UiSupport {
  private UiSupport() {}

  /** False on Spark 3.5, whose pages take requests of the package javax.servlet. */
  public static boolean hasPages() {
    try {
      Class<?> request = Reflected.PAGE_RENDER.method(WebUIPage.class).getParameterTypes()[0];
      return request.getName().equals("jakarta.servlet.http.HttpServletRequest");
    } catch (LinkageError e) {
      return false;
    }
  }
}
