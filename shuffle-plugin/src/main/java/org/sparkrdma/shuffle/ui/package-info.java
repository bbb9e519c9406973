// SPDX-License-Identifier: Apache-2.0
/**
 * The figures of an application on the driver, as metrics, summary line and tab "RDMA shuffle"
 * ({@link org.sparkrdma.shuffle.ui.FigureReceiver}), and the same tab in the History Server ({@link
 * org.sparkrdma.shuffle.ui.RdmaHistoryPlugin}). Event logs have the name of {@link
 * org.sparkrdma.shuffle.ui.RdmaShuffleEvent}, stores of History Servers that of {@link
 * org.sparkrdma.shuffle.ui.StoredFigures}: these are never renamed.
 */
package org.sparkrdma.shuffle.ui;
