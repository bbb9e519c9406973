// SPDX-License-Identifier: Apache-2.0
/**
 * The results of a benchmark and of two benchmarks compared: as JSON, CSV, text and HTML page.
 * Confined to the main thread.
 */
package org.sparkrdma.benchmarks.jobs.report;
