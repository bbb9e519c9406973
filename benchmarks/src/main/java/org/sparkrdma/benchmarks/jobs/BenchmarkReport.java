// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.List;

/** Content of a benchmark's JSON file. */
public record BenchmarkReport(
    BenchmarkPlan plan, Environment environment, List<CaseReport> cases) {}
