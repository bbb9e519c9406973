// SPDX-License-Identifier: Apache-2.0
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
