// SPDX-License-Identifier: Apache-2.0
/**
 * All that differs between the versions of Spark and Scala that this jar runs on, and nothing else.
 *
 * <p>Stateless apart from {@link org.sparkrdma.shuffle.spark.RecordIterator}; called by task
 * threads and by the thread that creates the shuffle manager.
 */
package org.sparkrdma.shuffle.spark;
