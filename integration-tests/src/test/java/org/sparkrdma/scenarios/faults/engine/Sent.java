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
package org.sparkrdma.scenarios.faults.engine;

import org.sparkrdma.scenarios.faults.plan.Rule;

/** A request that was posted, at least for its poster, and has not completed. */
final class Sent {
  private final long id;
  private final Place sink;
  private Rule rule;

  /**
   * @param sink of a READ that brings something; else null
   */
  Sent(long id, Place sink) {
    this.id = id;
    this.sink = sink;
  }

  long id() {
    return id;
  }

  Place sink() {
    return sink;
  }

  /** What went wrong with it, or null. */
  Rule rule() {
    return rule;
  }

  void struckBy(Rule struck) {
    rule = struck;
  }
}
