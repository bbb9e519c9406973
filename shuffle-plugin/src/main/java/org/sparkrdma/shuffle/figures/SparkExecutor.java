// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.figures;

/**
 * Facts about an executor from Spark's own events. Does not change.
 *
 * @param host as Spark names it; empty when Spark has not named it
 * @param remote bytes that its tasks have read of other executors
 * @param local bytes that its tasks have read of its own disks
 * @param removed Spark's reason for the removal; null while it runs
 */
public record SparkExecutor(String host, long remote, long local, String removed) {}
