// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.List;

/** A whole benchmark, as its JSON file has it. */
public record BenchmarkReport(
    BenchmarkPlan plan, Environment environment, List<CaseReport> cases) {}
