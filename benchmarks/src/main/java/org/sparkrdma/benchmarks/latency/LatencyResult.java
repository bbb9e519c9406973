// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.util.List;
import org.sparkrdma.launch.MeasuredResult;

/**
 * Result of the application, as JSON.
 *
 * @param objection the reason why the cases are invalid, in one sentence; null when they are valid
 */
record LatencyResult(List<LatencyCase> cases, String objection) implements MeasuredResult {}
