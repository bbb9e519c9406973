// SPDX-License-Identifier: Apache-2.0
/**
 * Runs a plan: {@link org.sparkrdma.benchmarks.jobs.run.BenchmarkRuns} starts one Spark application
 * after the other in its own JVM and measures it from the driver. Confined to the main thread.
 */
package org.sparkrdma.benchmarks.jobs.run;
