// SPDX-License-Identifier: Apache-2.0
/**
 * Runs ScalaTest suites against the packaged plug-in, each in a new JVM with its own Spark home,
 * temporary directory and environment: Spark's own suites and the scenarios.
 *
 * <p>Entry: {@link org.sparkrdma.suites.SuitesIT}, which the build starts after packaging. One
 * thread; one run at a time, because each starts clusters.
 */
package org.sparkrdma.suites;
