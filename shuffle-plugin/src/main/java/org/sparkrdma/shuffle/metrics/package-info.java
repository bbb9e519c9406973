// SPDX-License-Identifier: Apache-2.0
/**
 * Counters of the plug-in: {@link org.sparkrdma.shuffle.metrics.ShuffleCounters}, one per executor.
 *
 * <p>Safe for any thread; depends on nothing else of the plug-in.
 */
package org.sparkrdma.shuffle.metrics;
