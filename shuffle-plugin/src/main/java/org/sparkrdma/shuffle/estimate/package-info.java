// SPDX-License-Identifier: Apache-2.0
/**
 * What RDMA could save in applications that have already run, by Spark's event logs. Entry class
 * {@link org.sparkrdma.shuffle.estimate.Estimate}, for the command {@code estimate}. It runs in a
 * JVM of {@code spark-submit} without a SparkContext, with the Jackson and the Hadoop client of any
 * supported version of Spark. One thread.
 */
package org.sparkrdma.shuffle.estimate;
