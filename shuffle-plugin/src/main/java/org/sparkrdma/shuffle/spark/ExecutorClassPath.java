// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.package$;
import org.apache.spark.util.Utils;

/**
 * The driver's check whether executors can load the shuffle manager or the plug-in. Stateless.
 *
 * <p>Executors of Spark 3.5 create the shuffle manager before they fetch the application's jars
 * (SPARK-45762), so that it must be on the class path that they start with; those of Spark 4 also
 * load it from these jars, and every Spark loads plug-ins from them. Without the class every
 * executor ends at once, and Spark replaces executors for ever. The driver stops only where its own
 * settings show that. An executor class path that the user has set is not examined, because its
 * files are on the executors' machines.
 */
public final class ExecutorClassPath {
  private static final String EXECUTOR_KEY = "spark.executor.extraClassPath";
  private static final String DRIVER_KEY = "spark.driver.extraClassPath";

  /** Settings that may bring the jar to executors, beside spark.jars. */
  private static final List<String> OTHER_KEYS =
      List.of("spark.yarn.dist.jars", "spark.yarn.jars", "spark.yarn.archive");

  private ExecutorClassPath() {}

  /**
   * Checks whether executors of this Spark can load the class, as far as the driver can determine
   * it.
   *
   * @param type the shuffle manager or the plug-in
   * @throws IllegalArgumentException when they cannot, with the settings that help
   */
  public static void requireLoadable(SparkConf conf, Class<?> type) {
    String resource = type.getName().replace('.', '/') + ".class";
    List<String> found =
        ClassLoader.getSystemClassLoader().resources(resource).map(Object::toString).toList();
    // A second one may be in Spark's own folder of jars.
    String jar = found.size() == 1 ? found.get(0).replaceFirst("^jar:file:(.*)!/.*$", "$1") : "";
    String version = package$.MODULE$.SPARK_VERSION();
    // Plug-ins of any Spark are loaded from the application's jars, as managers of Spark 4 are.
    boolean mayUseJars = SparkPlugin.class.isAssignableFrom(type) || !version.startsWith("3.");
    boolean needsJars = found.isEmpty();
    Optional<String> problem =
        needsJars && mayUseJars
            ? Optional.empty()
            : problem(conf, version, type.getName(), needsJars, jar);
    if (problem.isPresent()) {
      throw new IllegalArgumentException(problem.get());
    }
  }

  /**
   * The reason why executors cannot load it, in one sentence with the settings that help.
   *
   * @param fromApplicationJars whether the class is not on the class path that the driver started
   *     with
   * @param jar the jar on that class path; empty when that is not certain
   */
  static Optional<String> problem(
      SparkConf conf,
      String sparkVersion,
      String manager,
      boolean fromApplicationJars,
      String jar) {
    String master = conf.get("spark.master", "");
    // In local mode the driver's process is the executor.
    boolean local = master.equals("local") || master.startsWith("local[");
    if (local || !conf.get(EXECUTOR_KEY, "").isBlank()) {
      return Optional.empty();
    }
    String reason;
    if (fromApplicationJars && sparkVersion.startsWith("3.")) {
      reason = "they do not load a shuffle manager from --jars or spark.jars";
    } else if (!fromApplicationJars && isOnDriverOnly(conf, master, manager, jar)) {
      reason = "only " + DRIVER_KEY + " has the plug-in's jar";
    } else {
      return Optional.empty();
    }
    return Optional.of(
        String.format(
            Locale.ROOT,
            ("executors of Spark %s cannot load %s, because %s: set spark.jars to the plug-in's jar and"
                + " spark.plugins=org.sparkrdma.shuffle.RdmaPlugin instead of spark.shuffle.manager,"
                + " or copy the jar to the same path on every node and set both %s and %s to that"
                + " path"),
            sparkVersion,
            manager,
            reason,
            EXECUTOR_KEY,
            DRIVER_KEY));
  }

  /**
   * False also where executors may have the jar by a way that the settings do not show; a class
   * path with {@code *} shows nothing.
   */
  private static boolean isOnDriverOnly(SparkConf conf, String master, String manager, String jar) {
    return !master.startsWith("k8s")
        && System.getenv("SPARK_DIST_CLASSPATH") == null
        && OTHER_KEYS.stream().allMatch(key -> conf.get(key, "").isBlank())
        && Stream.of(conf.get("spark.jars", "").split(",", -1))
            .noneMatch(one -> mayHave(one.trim(), manager.replace('.', '/') + ".class"))
        && Stream.of(conf.get(DRIVER_KEY, "").split(File.pathSeparator, -1))
            .anyMatch(entry -> entry.trim().equals(jar));
  }

  /** Whether this jar of the application may have the class; one of another host may. */
  private static boolean mayHave(String jar, String resource) {
    try (ZipFile file = new ZipFile(new File(Utils.resolveURI(jar)))) {
      return file.getEntry(resource) != null;
    } catch (IllegalArgumentException e) {
      // A file of another file system.
      return true;
    } catch (IOException e) {
      // It does not exist or is no jar.
      return false;
    }
  }
}
