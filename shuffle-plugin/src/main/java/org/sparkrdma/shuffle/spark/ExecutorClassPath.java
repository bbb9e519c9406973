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
 * (SPARK-45762), so that it must be on the class path that they start with. Without it every
 * executor ends at once, and Spark replaces executors without an event. Those of Spark 4 also load
 * it from these jars, and their end causes events. An executor class path that the user has set is
 * not examined, because its files are on the executors' machines.
 */
public final class ExecutorClassPath {
  private static final String EXECUTOR_KEY = "spark.executor.extraClassPath";

  private ExecutorClassPath() {}

  /**
   * The reason why executors of this Spark cannot load the manager, in one sentence with the
   * settings that help; empty when they can, or when the driver cannot determine it.
   */
  public static Optional<String> problem(SparkConf conf, Class<?> manager) {
    String resource = manager.getName().replace('.', '/') + ".class";
    boolean fromApplicationJars = ClassLoader.getSystemResource(resource) == null;
    return problem(conf, package$.MODULE$.SPARK_VERSION(), manager.getName(), fromApplicationJars);
  }

  /**
   * @param fromApplicationJars whether the class is not on the class path that the driver started
   *     with
   */
  static Optional<String> problem(
      SparkConf conf, String sparkVersion, String manager, boolean fromApplicationJars) {
    String master = conf.get("spark.master", "");
    // In local mode the driver's process is the executor.
    boolean local = master.equals("local") || master.startsWith("local[");
    if (!fromApplicationJars
        || local
        || !sparkVersion.startsWith("3.")
        || !conf.get(EXECUTOR_KEY, "").isBlank()) {
      return Optional.empty();
    }
    return Optional.of(
        String.format(
            Locale.ROOT,
            ("executors of Spark %s cannot load %s, because they do not load a shuffle manager from"
                + " --jars or spark.jars: copy the plug-in's jar to the same path on every node and"
                + " set both %s and spark.driver.extraClassPath to that path"),
            sparkVersion,
            manager,
            EXECUTOR_KEY));
  }
}
