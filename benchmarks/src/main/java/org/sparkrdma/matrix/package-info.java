// SPDX-License-Identifier: Apache-2.0
/**
 * The command behind the {@code matrix} script: runs the same two jobs on each version of Spark and
 * Java, with Spark's own shuffle and with the plug-in, compares their answers, and reads the tab of
 * the plug-in in the UI and in a History Server of that Spark.
 *
 * <p>Entry: {@link org.sparkrdma.matrix.MatrixCommand}, on the main thread. {@link
 * org.sparkrdma.matrix.MatrixPlan} runs on Spark.
 */
package org.sparkrdma.matrix;
