// SPDX-License-Identifier: Apache-2.0
/**
 * The jobs themselves, each a {@link org.sparkrdma.benchmarks.jobs.workload.Workload} with its own
 * input and an answer that is known in advance or compared. Confined to the main thread.
 */
package org.sparkrdma.benchmarks.jobs.workload;
