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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What a run brought: each test's outcome, and how long the JVM lived.
 *
 * @param flakes what failed in earlier tries of the same run
 */
record SuiteResult(
    SuiteRun run, List<TestOutcome> outcomes, Duration took, List<TestOutcome> flakes) {

  SuiteResult(SuiteRun run, List<TestOutcome> outcomes, Duration took) {
    this(run, outcomes, took, List.of());
  }

  /** This result, which remembers what failed in an earlier try. */
  SuiteResult after(SuiteResult earlier) {
    List<TestOutcome> all = new ArrayList<>(earlier.flakes);
    all.addAll(earlier.outcomes.stream().filter(TestOutcome::failed).toList());
    return new SuiteResult(run, outcomes, took, List.copyOf(all));
  }

  boolean failed() {
    return outcomes.stream().anyMatch(TestOutcome::failed);
  }

  long count(TestOutcome.Kind kind) {
    return outcomes.stream().filter(outcome -> outcome.kind() == kind).count();
  }
}
