// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.environment;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.plan.FixedSettings;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import scala.Tuple2;

/**
 * Host, versions and settings of a benchmark.
 *
 * @param date start of the first application
 * @param version version and commit of the plug-in's jar, and of the benchmarks' if it differs;
 *     null in older reports
 * @param jvm collectors and flags of an executor; null in older reports
 * @param host the driver's host: processor, number of processors, memory, kernel
 * @param load load average of the driver's host in the last minute
 * @param settings the user's settings that affect a shuffle; in older reports with those of the
 *     first shuffle
 * @param fixedSettings settings that every benchmark has
 * @param shuffleSettings settings of single shuffles, which replace the user's, by the shuffle's
 *     name; empty in older reports
 */
public record Environment(
    String date,
    String version,
    String spark,
    String java,
    String jvm,
    String master,
    String host,
    double load,
    Map<String, String> settings,
    Map<String, String> fixedSettings,
    Map<String, Map<String, String>> shuffleSettings) {
  private static final Pattern REPORTED =
      Pattern.compile(
          "spark\\.(shuffle|reducer|executor|network|cores|task|memory|io|local|sql\\.shuffle"
              + "|sql\\.adaptive)\\..*");

  /** Settings that are never reported. */
  private static final Pattern SECRET =
      Pattern.compile("(?i).*(secret|password|token|credential|accesskey|env|options).*");

  public Environment {
    shuffleSettings = shuffleSettings == null ? Map.of() : shuffleSettings;
  }

  /**
   * Runs a job that reads the flags of an executor.
   *
   * @param user settings of the user, without those of a shuffle
   */
  public static Environment of(JavaSparkContext spark, SparkConf user, List<ShuffleMode> modes) {
    spark.sc().setJobDescription("read the executors' JVM");
    return new Environment(
        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
        versions(),
        spark.version() + ", Scala " + scala.util.Properties.versionNumberString(),
        javaVersion(),
        spark.parallelize(List.of(0), 1).map(ignored -> JvmFlags.ofThisJvm()).first(),
        spark.master(),
        describeHost(),
        loadAverage(),
        reported(user),
        FixedSettings.all(),
        settingsOf(modes));
  }

  /** The version of this JVM. */
  static String javaVersion() {
    return (System.getProperty("java.vendor.version", "")
            + " "
            + System.getProperty("java.version"))
        .strip();
  }

  /** The load average of the last minute; 0 where the system has none. */
  static double loadAverage() {
    return Math.max(0, ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
  }

  /** Version and commit of the jars, as the record has them. */
  static String versions() {
    String plugIn = JarBuild.of(RdmaShuffleManager.class);
    String benchmarks = JarBuild.of(Environment.class);
    return plugIn.equals(benchmarks) ? plugIn : plugIn + "; benchmarks " + benchmarks;
  }

  private static Map<String, Map<String, String>> settingsOf(List<ShuffleMode> modes) {
    Map<String, Map<String, String>> settings = new TreeMap<>();
    modes.forEach(mode -> settings.put(mode.toString(), new TreeMap<>(mode.conf())));
    return settings;
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
    FixedSettings.all().keySet().forEach(settings::remove);
    return settings;
  }

  /** This host, as the record has it. */
  static String describeHost() {
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
