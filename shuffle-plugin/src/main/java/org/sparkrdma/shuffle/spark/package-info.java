/**
 * All that differs between the Spark lines this jar runs on, and nothing else.
 *
 * <p>Stateless; called by task threads.
 */
package org.sparkrdma.shuffle.spark;
