// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.util.Locale;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.package$;

/**
 * The driver's check whether executors can load the shuffle manager. Stateless.
 *
 * <p>Executors of Spark 3.5 create the shuffle manager before they fetch the application's jars
 * (SPARK-45762), so that it must be on the class path that they start with; those of Spark 4 also
 * load it from these jars. Without it every executor ends at once, and Spark replaces executors for
 * ever. An executor class path that the user has set is not examined, because its files are on the
 * executors' machines.
 */
public final class ExecutorClassPath {
  private static final String EXECUTOR_KEY = "spark.executor.extraClassPath";

  private ExecutorClassPath() {}

  /**
   * Checks whether executors of this Spark can load the manager, as far as the driver can determine
   * it.
   *
   * @throws IllegalArgumentException when they cannot, with the settings that help
   */
  public static void requireLoadable(SparkConf conf, Class<?> manager) {
    String resource = manager.getName().replace('.', '/') + ".class";
    boolean fromApplicationJars = ClassLoader.getSystemClassLoader().getResource(resource) == null;
    String version = package$.MODULE$.SPARK_VERSION();
    Optional<String> problem = problem(conf, version, manager.getName(), fromApplicationJars);
    if (problem.isPresent()) {
      throw new IllegalArgumentException(problem.get());
    }
  }

  /**
   * The reason why executors cannot load it, in one sentence with the settings that help.
   *
   * @param fromApplicationJars whether the class is not on the class path that the driver started
   *     with
   */
  static Optional<String> problem(
      SparkConf conf, String sparkVersion, String manager, boolean fromApplicationJars) {
    String master = conf.get("spark.master", "");
    // In local mode the driver's process is the executor.
    boolean local = master.equals("local") || master.startsWith("local[");
    if (local
        || !fromApplicationJars
        || !sparkVersion.startsWith("3.")
        || !conf.get(EXECUTOR_KEY, "").isBlank()) {
      return Optional.empty();
    }
    return Optional.of(
        String.format(
            Locale.ROOT,
            ("executors of Spark %s cannot load %s, because they do not load a shuffle manager from"
                + " --jars or spark.jars: set spark.plugins=org.sparkrdma.shuffle.RdmaPlugin instead"
                + " of spark.shuffle.manager, or copy the plug-in's jar to the same path on every"
                + " node and set both %s and spark.driver.extraClassPath to that path"),
            sparkVersion,
            manager,
            EXECUTOR_KEY));
  }
}
