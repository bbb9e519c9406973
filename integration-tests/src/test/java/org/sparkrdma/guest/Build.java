/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
