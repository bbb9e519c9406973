// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.File;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import org.apache.spark.SparkEnv;
import org.apache.spark.package$;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import scala.util.Properties;

/**
 * Machine and versions of a measurement.
 *
 * @param date start of the measurement
 * @param version version and commit of the plug-in's jar
 * @param host the driver's host: number of processors, kernel
 */
public record Environment(String date, String version, String spark, String java, String host) {
  /** Begins the part of the host that names the cluster; not there on one machine. */
  public static final String CLUSTER = ", driver of a cluster: ";

  /** The environment of this JVM at this moment. */
  public static Environment now() {
    return new Environment(
        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
        plugInVersion(),
        package$.MODULE$.SPARK_VERSION() + ", Scala " + Properties.versionNumberString(),
        System.getProperty("java.version"),
        "%d processors, %s %s %s%s"
            .formatted(
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.name"),
                System.getProperty("os.version"),
                System.getProperty("os.arch"),
                cluster()));
  }

  /** The master of an application whose executors may be on other hosts. */
  private static String cluster() {
    SparkEnv env = SparkEnv.get();
    String master = env == null ? "" : env.conf().get("spark.master", "");
    return master.matches("|local.*|spark://127[.].*") ? "" : CLUSTER + master;
  }

  private static String plugInVersion() {
    var source = RdmaShuffleManager.class.getProtectionDomain().getCodeSource();
    try (JarFile jar = new JarFile(new File(source.getLocation().getPath()))) {
      Attributes attributes = jar.getManifest().getMainAttributes();
      return attributes.getValue(Attributes.Name.IMPLEMENTATION_VERSION)
          + ", commit "
          + attributes.getValue("Build-Commit");
    } catch (IOException e) {
      // Classes in a directory, as in tests.
      return "unknown";
    }
  }
}
