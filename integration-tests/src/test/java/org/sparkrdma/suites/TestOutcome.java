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
package org.sparkrdma.suites;

/**
 * How one test of a suite ended.
 *
 * @param name its name in the suite
 * @param kind passed, failed or skipped
 * @param detail the failure with its stack, or why it was skipped; empty when passed
 */
record TestOutcome(String name, Kind kind, String detail) {
  enum Kind {
    PASSED,
    FAILED,
    SKIPPED
  }

  boolean failed() {
    return kind == Kind.FAILED;
  }
}
