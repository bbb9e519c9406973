// SPDX-License-Identifier: Apache-2.0
/**
 * Measures broadcast variables: Spark's own transfer, and the plug-in's pipeline of executors by
 * Spark's TCP and by READ.
 *
 * <p>Entry: {@link org.sparkrdma.benchmarks.broadcast.BroadcastCommand}, behind {@code ./bench
 * broadcast}. It submits one {@link org.sparkrdma.benchmarks.broadcast.BroadcastPlan}; its driver
 * runs one Spark application after the other, so that the driver's code is warm.
 */
package org.sparkrdma.benchmarks.broadcast;
