// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

/** System properties that the build passes to the tests. */
final class Build {
  private Build() {}

  /**
   * A system property that the build sets.
   *
   * @throws IllegalStateException when it is not set, with advice
   */
  static String property(String key) {
    String value = System.getProperty(key, "");
    if (value.isEmpty() || value.startsWith("${")) {
      throw new IllegalStateException(
          key.contains("jdk22")
              ? "no newer JDK: set JAVA22_HOME to one of 22 or newer"
              : "not run by the build: " + key + " is not set");
    }
    return value;
  }
}
