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
import java.util.List;

/**
 * What a run brought: each test's outcome, how long the JVM lived, and how its blocks came.
 *
 * @param blocks of all its applications
 */
record SuiteResult(
    SuiteRun run, List<TestOutcome> outcomes, Duration took, TransferLog.Blocks blocks) {

  long count(TestOutcome.Kind kind) {
    return outcomes.stream().filter(outcome -> outcome.kind() == kind).count();
  }
}
