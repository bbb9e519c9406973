// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

/** What the build tells the tests. */
final class Build {
  private Build() {}

  /**
   * A system property that the build sets.
   *
   * @throws IllegalStateException when it has not, with what to do about it
   */
  static String property(String key) {
    String value = System.getProperty(key, "");
    if (value.isEmpty() || value.startsWith("${")) {
      throw new IllegalStateException(
          key.contains("jdk22")
              ? "the ibverbs engine needs a JDK of 22 or newer: install one or set JAVA22_HOME"
              : "not run by the build: " + key + " is not set");
    }
    return value;
  }
}
