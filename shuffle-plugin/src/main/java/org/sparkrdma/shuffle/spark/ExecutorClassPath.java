// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.io.File;
import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.jar.JarFile;
import org.apache.spark.SparkConf;
import org.apache.spark.package$;

/**
 * The driver's check whether executors can load the shuffle manager.
 *
 * <p>Executors of Spark 3.5 create the shuffle manager before they fetch the application's jars
 * (SPARK-45762), so that it must be on the class path that they start with. Without it every
 * executor ends at once, and Spark replaces executors for ever without an event. A doubtful case is
 * no problem, so that no application that works is stopped. Those of Spark 4 also load it from
 * these jars, and their end causes events. Immutable.
 */
public final class ExecutorClassPath {
  private static final String EXECUTOR_KEY = "spark.executor.extraClassPath";
  private static final String DRIVER_KEY = "spark.driver.extraClassPath";

  private final String sparkVersion;
  private final String manager;
  private final boolean fromApplicationJars;
  private final Optional<Path> jarOnClassPath;

  /**
   * @param manager name of the shuffle manager's class
   * @param fromApplicationJars whether the class is not on the class path that the driver started
   *     with
   * @param jarOnClassPath the jar on that class path, if it is in one
   */
  ExecutorClassPath(
      String sparkVersion,
      String manager,
      boolean fromApplicationJars,
      Optional<Path> jarOnClassPath) {
    this.sparkVersion = sparkVersion;
    this.manager = manager;
    this.fromApplicationJars = fromApplicationJars;
    this.jarOnClassPath = jarOnClassPath;
  }

  /** Creates the check for the Spark of this driver. */
  public static ExecutorClassPath ofThisDriver(Class<?> manager) {
    List<URL> found =
        ClassLoader.getSystemClassLoader().resources(resource(manager.getName())).toList();
    // A second one may be in Spark's own folder of jars.
    return new ExecutorClassPath(
        package$.MODULE$.SPARK_VERSION(),
        manager.getName(),
        found.isEmpty(),
        found.size() == 1 ? jar(found.get(0)) : Optional.empty());
  }

  /**
   * The reason why executors cannot load the manager, in one sentence with the setting that helps;
   * empty when they can, or when the driver cannot determine it.
   */
  public Optional<String> problem(SparkConf conf) {
    if (hasNoExecutors(conf.get("spark.master", "")) || !sparkVersion.startsWith("3.")) {
      return Optional.empty();
    }
    List<String> driverEntries = entries(conf.get(DRIVER_KEY, ""));
    boolean driverOnly =
        fromApplicationJars
            || (jarOnClassPath.isPresent()
                && driverEntries.stream().anyMatch(entry -> names(entry, jarOnClassPath.get())));
    List<String> executorEntries = entries(conf.get(EXECUTOR_KEY, ""));
    if (!driverOnly || executorEntries.stream().anyMatch(this::mayHoldManager)) {
      return Optional.empty();
    }
    return Optional.of(
        String.format(
            Locale.ROOT,
            ("executors of Spark %s cannot load %s, because they do not load a shuffle manager from"
                + " --jars or spark.jars: copy the plug-in's jar to the same path on every node and"
                + " set both %s and %s to that path (now %s=%s)"),
            sparkVersion,
            manager,
            EXECUTOR_KEY,
            DRIVER_KEY,
            EXECUTOR_KEY,
            conf.get(EXECUTOR_KEY, "")));
  }

  /** In local mode the driver's process is the executor. */
  private static boolean hasNoExecutors(String master) {
    return master.equals("local") || master.startsWith("local[");
  }

  private static List<String> entries(String classPath) {
    List<String> entries = new ArrayList<>();
    for (String entry : classPath.split(File.pathSeparator, -1)) {
      if (!entry.isBlank()) {
        entries.add(entry.trim());
      }
    }
    return entries;
  }

  private static boolean names(String entry, Path jar) {
    try {
      return entry.endsWith("*")
          ? Path.of(entry.substring(0, entry.length() - 1)).equals(jar.getParent())
          : Path.of(entry).equals(jar);
    } catch (InvalidPathException e) {
      return false;
    }
  }

  /**
   * False only for a jar that exists on this machine and lacks the class: one that is missing here
   * may exist on the executors' machines.
   */
  private boolean mayHoldManager(String entry) {
    try {
      Path path = Path.of(entry);
      if (!Files.isRegularFile(path)) {
        return true;
      }
      try (JarFile jar = new JarFile(path.toFile(), false)) {
        return jar.getEntry(resource(manager)) != null;
      }
    } catch (IOException | InvalidPathException e) {
      return true;
    }
  }

  private static String resource(String className) {
    return className.replace('.', '/') + ".class";
  }

  /** The jar that holds a class file; empty when it is in no jar. */
  private static Optional<Path> jar(URL classFile) {
    try {
      if (classFile.openConnection() instanceof JarURLConnection jar) {
        return Optional.of(Path.of(jar.getJarFileURL().toURI()));
      }
    } catch (IOException | URISyntaxException | IllegalArgumentException e) {
      return Optional.empty();
    }
    return Optional.empty();
  }
}
