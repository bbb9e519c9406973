// SPDX-License-Identifier: Apache-2.0
/**
 * Classes of the tab "RDMA shuffle" whose names are stored outside of the application: {@link
 * org.sparkrdma.shuffle.ui.RdmaShuffleEvent} in event logs, {@link
 * org.sparkrdma.shuffle.ui.StoredFigures} in the stores of History Servers. They are never renamed.
 *
 * <p>The tab itself, for Spark 4.0 and newer, is in the packages below: {@code figures} collects,
 * {@code page} shows, {@code live} runs on the driver, {@code history} in the History Server.
 */
package org.sparkrdma.shuffle.ui;
