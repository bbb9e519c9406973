// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.environment;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.apache.spark.package$;

/**
 * The machine and the jars of a measurement on one machine. {@link Environment} adds the facts of
 * jobs on a cluster.
 *
 * @param date start of the measurement
 * @param version version and commit of the plug-in's jar, and of the benchmarks' if it differs
 * @param host processor, number of processors, memory, kernel
 * @param load load average in the minute before the start
 */
public record MachineFacts(
    String date, String version, String spark, String java, String host, double load) {
  /** The facts of this machine and this JVM at this moment. */
  public static MachineFacts now() {
    return new MachineFacts(
        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
        Environment.versions(),
        package$.MODULE$.SPARK_VERSION(),
        Environment.javaVersion(),
        Environment.describeHost(),
        Environment.loadAverage());
  }
}
