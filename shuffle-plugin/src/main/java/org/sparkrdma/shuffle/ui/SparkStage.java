// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

/**
 * What Spark still knows of a stage.
 *
 * @param link its id as HTML, a link to Spark's page of its last attempt unless Spark has forgotten
 *     it
 * @param name as Spark's pages show it
 * @param fetchWaitMs for which tasks of the last attempt have waited for blocks
 * @param fetchWait the same as HTML, with its share of their run time
 */
record SparkStage(String link, String name, long fetchWaitMs, String fetchWait) {}
