// SPDX-License-Identifier: Apache-2.0
/**
 * All that differs between the versions of Spark and Scala that this jar runs on, except the tab of
 * Spark's UI, which Spark 3.5 lacks ({@code shuffle.ui}).
 *
 * <p>Stateless apart from {@link org.sparkrdma.shuffle.spark.RecordIterator}; called by task
 * threads and by the thread that creates the shuffle manager.
 */
package org.sparkrdma.shuffle.spark;
