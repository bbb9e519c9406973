// SPDX-License-Identifier: Apache-2.0
/**
 * The commands that measure jobs under each shuffle in turn.
 *
 * <p>{@link org.sparkrdma.benchmarks.jobs.ShuffleBenchmark} is the class for {@code spark-submit}
 * on any cluster; {@link org.sparkrdma.benchmarks.jobs.JobCommand} runs the same on a cluster of
 * its own for {@code ./bench}. Both give a {@link org.sparkrdma.benchmarks.jobs.BenchmarkPlan} to
 * {@link org.sparkrdma.benchmarks.jobs.BenchmarkRuns}. Everything here is confined to the main
 * thread.
 */
package org.sparkrdma.benchmarks.jobs;
