// SPDX-License-Identifier: Apache-2.0
/**
 * The tab in the History Server: {@link org.sparkrdma.shuffle.ui.history.RdmaHistoryPlugin} replays
 * the events of a log and keeps the figures in the History Server's store.
 */
package org.sparkrdma.shuffle.ui.history;
