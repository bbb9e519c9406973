// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark.ui;

import org.apache.spark.ui.WebUIPage;

/** Whether this Spark has the page API that the tab was compiled for. Stateless. */
public final class UiSupport {
  private UiSupport() {}

  /** False on Spark 3.5, whose pages take requests of the package javax.servlet. */
  public static boolean hasPages() {
    try {
      Class<?> request =
          Class.forName(
              "jakarta.servlet.http.HttpServletRequest", false, WebUIPage.class.getClassLoader());
      return WebUIPage.class.getMethod("render", request) != null;
    } catch (ReflectiveOperationException | LinkageError e) {
      return false;
    }
  }
}
