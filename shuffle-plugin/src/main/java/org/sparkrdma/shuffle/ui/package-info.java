// SPDX-License-Identifier: Apache-2.0
/**
 * The tab "RDMA shuffle" in Spark's live UI and in the History Server, for Spark 4.0 and newer.
 *
 * <p>{@link org.sparkrdma.shuffle.ui.ShuffleUi} starts it on the driver; {@link
 * org.sparkrdma.shuffle.ui.RdmaHistoryPlugin} does in the History Server. Both fill {@code
 * ApplicationFigures}: the driver with what executors report and with Spark's events, the History
 * Server with the events of the log. {@code PageContent} writes the page. Classes that extend
 * Spark's pages are loaded only where Spark has such pages ({@code UiSupport}).
 */
package org.sparkrdma.shuffle.ui;
