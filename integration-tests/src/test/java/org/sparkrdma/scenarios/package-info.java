// SPDX-License-Identifier: Apache-2.0
/**
 * Jobs on small clusters with the plug-in: their results must be vanilla Spark's, and their blocks
 * must use the expected transfer.
 *
 * <p>Entry: the suites, which {@code SuitesIT} runs. Executors get the plug-in and the jobs by
 * {@code spark.jars}, as users' executors do.
 */
package org.sparkrdma.scenarios;
