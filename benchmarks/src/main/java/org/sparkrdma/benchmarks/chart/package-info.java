// SPDX-License-Identifier: Apache-2.0
/**
 * Draws the ratios of reports.
 *
 * <p>Entry: {@link org.sparkrdma.benchmarks.chart.ChartCommand}, behind {@code ./bench chart}.
 */
package org.sparkrdma.benchmarks.chart;
