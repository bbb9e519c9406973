// SPDX-License-Identifier: Apache-2.0
/**
 * Measures block transfer between two executors: the plug-in's block client on the loopback engine
 * and Spark's own, in one run, over the same kind of files. {@link
 * org.sparkrdma.benchmarks.transfer.TransferPlan.Kind} has what is measured.
 *
 * <p>Entry: {@link org.sparkrdma.benchmarks.transfer.TransferCommand}, behind {@code ./bench
 * transfer}. It submits one {@link org.sparkrdma.benchmarks.transfer.TransferPlan} per kind of
 * verification. Each round of that is a barrier job of two tasks, one in each executor: {@link
 * org.sparkrdma.benchmarks.transfer.RoundTask} writes new map outputs in one executor and fetches
 * them in the other, by both clients. Only the fetch is timed, on the task's thread.
 */
package org.sparkrdma.benchmarks.transfer;
