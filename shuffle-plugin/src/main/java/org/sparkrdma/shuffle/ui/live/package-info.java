// SPDX-License-Identifier: Apache-2.0
/**
 * The figures of a running application on the driver: {@link
 * org.sparkrdma.shuffle.ui.live.ApplicationMonitor} collects them from the reports of executors and
 * from Spark's events, for metrics, a summary line, and, where Spark has pages, the tab and the
 * events of the event log.
 */
package org.sparkrdma.shuffle.ui.live;
