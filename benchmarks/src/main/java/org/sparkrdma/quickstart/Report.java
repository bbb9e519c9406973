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
package org.sparkrdma.quickstart;

import java.util.List;
import java.util.Optional;
import org.sparkrdma.benchmarks.tera.GeneratedInput;

/** All runs over one input, in the order they were made. */
record Report(List<RunReport> runs) {
  /** The first run whose output is not the input sorted, as one sentence; empty if all agree. */
  Optional<String> disagreement(GeneratedInput input) {
    return runs.stream()
        .filter(run -> run.records() != input.records() || !run.checksum().equals(input.checksum()))
        .findFirst()
        .map(
            run ->
                ("the %s run lost or changed records: records=%d checksum=%s but the input has"
                        + " records=%d checksum=%s")
                    .formatted(
                        run.mode(),
                        run.records(),
                        run.checksum(),
                        input.records(),
                        input.checksum()));
  }
}
