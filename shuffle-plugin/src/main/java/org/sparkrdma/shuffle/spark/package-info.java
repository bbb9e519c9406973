// SPDX-License-Identifier: Apache-2.0
/**
 * All that differs between the versions of Spark and Scala that this jar runs on; {@code
 * shuffle.spark.ui} has the differences of Spark's UI. {@code shuffle.ui} starts the tab only where
 * Spark has pages for it, so not on Spark 3.5.
 *
 * <p>Stateless; called by task threads and by the thread that creates the shuffle manager.
 */
package org.sparkrdma.shuffle.spark;
