/**
 * Runs ScalaTest suites against the packaged plug-in, each in a fresh JVM with a Spark home, a
 * temporary directory and an environment of its own: Spark's own suites and the scenarios.
 *
 * <p>Entry: {@link org.sparkrdma.suites.SuitesIT}, which the build starts after packaging. One
 * thread; one run at a time, because each starts clusters.
 */
package org.sparkrdma.suites;
