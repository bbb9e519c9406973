// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.util.List;

/**
 * All cases, in the order of time.
 *
 * @param computed names of the figures that are computed and not measured
 */
record CeilingReport(
    String latency, int depth, List<String> computed, List<CeilingCase> cases, List<String> goals) {
  static CeilingReport of(String latency, int depth, List<CeilingCase> cases) {
    return new CeilingReport(
        latency,
        depth,
        List.of(Figure.AGENT_LINK_GBIT_PER_SECOND.name()),
        cases,
        Goal.verdicts(cases));
  }
}
