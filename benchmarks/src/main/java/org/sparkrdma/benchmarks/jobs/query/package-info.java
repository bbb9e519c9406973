// SPDX-License-Identifier: Apache-2.0
/**
 * The queries of TPC-H and TPC-DS: their tables as files, and each suite as a {@link
 * org.sparkrdma.benchmarks.jobs.query.PublishedQueries} job. Confined to the main thread.
 */
package org.sparkrdma.benchmarks.jobs.query;
