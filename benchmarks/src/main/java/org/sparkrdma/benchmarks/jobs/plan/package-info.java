// SPDX-License-Identifier: Apache-2.0
/**
 * The input of a benchmark: jobs and shapes, the shuffles to compare, and the settings that are the
 * same for all. A new job is a line in {@link org.sparkrdma.benchmarks.jobs.plan.ShuffleJob}.
 * Confined to the main thread.
 */
package org.sparkrdma.benchmarks.jobs.plan;
