// SPDX-License-Identifier: Apache-2.0
/**
 * Jobs that are measured under each shuffle in turn.
 *
 * <p>{@link org.sparkrdma.benchmarks.jobs.ShuffleBenchmark} is the class for {@code spark-submit}
 * on any cluster; {@link org.sparkrdma.benchmarks.jobs.JobCommand} runs the same on a cluster of
 * its own for {@code ./bench}. Both give a {@link org.sparkrdma.benchmarks.jobs.BenchmarkPlan} to
 * {@link org.sparkrdma.benchmarks.jobs.BenchmarkRuns}, which starts one Spark application after the
 * other in its own JVM. A new job is a {@link org.sparkrdma.benchmarks.jobs.Workload} and a line in
 * {@link org.sparkrdma.benchmarks.jobs.ShuffleJob}. Everything here is confined to the main thread.
 */
package org.sparkrdma.benchmarks.jobs;
