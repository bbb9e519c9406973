// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.environment;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.package$;
import org.sparkrdma.benchmarks.jobs.plan.FixedSettings;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import scala.Tuple2;
import scala.util.Properties;

/**
 * Machine, versions and settings of a measurement.
 *
 * @param date start of the measurement
 * @param version version and commit of the plug-in's jar, and of the benchmarks' if it differs;
 *     null in older reports
 * @param host the driver's host: processor, number of processors, memory, kernel
 * @param load load average of that host in the minute before the start
 * @param settings the user's settings that affect a shuffle, without those that every benchmark
 *     has; null in older reports of commands that run no jobs
 */
public record Environment(
    String date,
    String version,
    String spark,
    String java,
    String host,
    double load,
    Map<String, String> settings) {
  private static final Pattern REPORTED =
      Pattern.compile(
          "spark\\.(shuffle|reducer|executor|network|cores|task|memory|io|local|sql\\.shuffle"
              + "|sql\\.adaptive)\\..*");

  /** Settings that are never reported. */
  private static final Pattern SECRET =
      Pattern.compile("(?i).*(secret|password|token|credential|accesskey|env|options).*");

  /** The environment of this JVM at this moment. */
  public static Environment now() {
    return of(new SparkConf(false));
  }

  /**
   * The same with settings of the user.
   *
   * @param user without the settings of a shuffle
   */
  public static Environment of(SparkConf user) {
    return new Environment(
        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
        versions(),
        package$.MODULE$.SPARK_VERSION() + ", Scala " + Properties.versionNumberString(),
        javaVersion(),
        describeHost(),
        Math.max(0, ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()),
        reported(user));
  }

  private static String javaVersion() {
    return (System.getProperty("java.vendor.version", "")
            + " "
            + System.getProperty("java.version"))
        .strip();
  }

  /** Version and commit of the jars, as the record has them. */
  static String versions() {
    String plugIn = JarBuild.of(RdmaShuffleManager.class);
    String benchmarks = JarBuild.of(Environment.class);
    return plugIn.equals(benchmarks) ? plugIn : plugIn + "; benchmarks " + benchmarks;
  }

  public static Map<String, String> reported(SparkConf conf) {
    Map<String, String> settings = new TreeMap<>();
    for (Tuple2<String, String> setting : conf.getAll()) {
      if (REPORTED.matcher(setting._1).matches() && !SECRET.matcher(setting._1).matches()) {
        settings.put(setting._1, setting._2);
      }
    }
    settings.remove("spark.shuffle.manager");
    settings.remove("spark.executor.id");
    FixedSettings.keys().forEach(settings::remove);
    return settings;
  }

  /** This host, as the record has it. */
  private static String describeHost() {
    var system =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return "%s, %d processors, %d GiB, %s %s %s"
        .formatted(
            processor(Path.of("/proc/cpuinfo")),
            Runtime.getRuntime().availableProcessors(),
            system.getTotalMemorySize() >> 30,
            System.getProperty("os.name"),
            System.getProperty("os.version"),
            System.getProperty("os.arch"));
  }

  /** The kernel's name of the processor model. */
  private static String processor(Path cpuinfo) {
    try (var lines = Files.lines(cpuinfo)) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown processor");
    } catch (IOException e) {
      return "unknown processor";
    }
  }
}
