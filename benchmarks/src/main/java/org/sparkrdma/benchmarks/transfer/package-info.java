// SPDX-License-Identifier: Apache-2.0
/**
 * How fast blocks travel from one executor to another, and what that costs: the plug-in's block
 * client on the loopback engine against Spark's own, in one run, over the same kind of files.
 *
 * <p>Entry: {@link org.sparkrdma.benchmarks.transfer.TransferCommand}, behind {@code ./bench
 * transfer}. It submits {@link org.sparkrdma.benchmarks.transfer.TransferApplication} once per kind
 * of verification. Each round of that is a barrier job of two tasks, one in each executor: {@link
 * org.sparkrdma.benchmarks.transfer.RoundTask} writes fresh map outputs on one side and pulls them
 * from the other, by both clients. Only the pulling is timed, on the task's thread.
 */
package org.sparkrdma.benchmarks.transfer;
