// SPDX-License-Identifier: Apache-2.0
/**
 * The results of a benchmark and of two benchmarks compared, as JSON and text. Confined to the main
 * thread.
 */
package org.sparkrdma.benchmarks.jobs.report;
