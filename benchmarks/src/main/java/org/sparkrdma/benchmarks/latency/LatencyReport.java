// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.util.List;

/** All cases, in the order of time. */
record LatencyReport(List<LatencyCase> cases) {}
