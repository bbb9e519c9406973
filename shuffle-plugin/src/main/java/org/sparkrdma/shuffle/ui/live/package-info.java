// SPDX-License-Identifier: Apache-2.0
/**
 * The tab of a running application: {@link org.sparkrdma.shuffle.ui.live.ShuffleUi} starts it on
 * the driver, fills it with the reports of executors and with Spark's events, and posts events for
 * the event log.
 */
package org.sparkrdma.shuffle.ui.live;
