// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.io.File;
import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.package$;

/**
 * The driver's check whether executors can load the shuffle manager.
 *
 * <p>Executors of Spark 3.5 create the shuffle manager before they fetch the application's jars
 * (SPARK-45762), so that it must be on the class path that they start with. Those of Spark 4 also
 * load it from these jars. Without it every executor ends at once, and Spark replaces executors for
 * ever. A doubtful case is no problem, so that no application that works is stopped. Immutable.
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
    if (hasNoExecutors(conf.get("spark.master", ""))
        || (loadsManagerFromJars() && (fromApplicationJars || mayComeFromElsewhere(conf)))) {
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
    if (loadsManagerFromJars()) {
      return Optional.of(
          String.format(
              Locale.ROOT,
              ("executors of Spark %s cannot load %s, because only %s has the plug-in's jar: add the"
                  + " jar to spark.jars (--jars), or copy it to the same path on every node and set"
                  + " %s to that path"),
              sparkVersion,
              manager,
              DRIVER_KEY,
              EXECUTOR_KEY));
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

  /**
   * A sentence for the log when all files from which executors of Spark 3.5 would load the manager
   * are missing here: they may exist on the executors' machines. Spark 3.5 posts no event when an
   * executor ends before it registers.
   */
  public Optional<String> doubt(SparkConf conf) {
    List<String> entries = entries(conf.get(EXECUTOR_KEY, ""));
    boolean doubtful = !entries.isEmpty() && unreadable(entries).equals(entries);
    return doubtful && !loadsManagerFromJars() && !conf.get("spark.master", "").startsWith("k8s")
        ? Optional.of(
            "executors of Spark " + sparkVersion + " end at their start if they " + whyNot(conf))
        : Optional.empty();
  }

  /** Part of a sentence: executors cannot load the manager, where it may be, and what to check. */
  public static String whyNot(SparkConf conf) {
    List<String> unreadable = new ArrayList<>(unreadable(entries(conf.get(EXECUTOR_KEY, ""))));
    unreadable.addAll(unreadable(jars(conf)));
    return "cannot load "
        + conf.get("spark.shuffle.manager", "")
        + ": "
        + (unreadable.isEmpty()
            ? "the plug-in's jar may be missing or unreadable on their machines"
            : "this machine cannot read " + String.join(", ", unreadable))
        + "; check the paths in "
        + EXECUTOR_KEY
        + " and spark.jars, and see the end of an executor's log";
  }

  /** The absolute paths among these entries that are no readable file or directory here. */
  private static List<String> unreadable(List<String> entries) {
    return entries.stream()
        .filter(entry -> entry.startsWith("/"))
        .filter(entry -> !new File(entry.replaceFirst("\\*$", "")).canRead())
        .toList();
  }

  private static List<String> jars(SparkConf conf) {
    String jars = conf.get("spark.jars", "") + "," + conf.get("spark.yarn.dist.jars", "");
    return Stream.of(jars.split(",", -1))
        .map(String::trim)
        .filter(jar -> !jar.isEmpty())
        .map(jar -> jar.replaceFirst("^file:/+", "/"))
        .toList();
  }

  /** Spark 4.0 and newer. */
  private boolean loadsManagerFromJars() {
    int dot = sparkVersion.indexOf('.');
    try {
      return dot < 0 || Integer.parseInt(sparkVersion.substring(0, dot)) >= 4;
    } catch (NumberFormatException e) {
      return true;
    }
  }

  /** Whether executors may have the jar by a way that this driver's class path does not show. */
  private boolean mayComeFromElsewhere(SparkConf conf) {
    return conf.get("spark.master", "").startsWith("k8s")
        || conf.contains("spark.yarn.jars")
        || conf.contains("spark.yarn.archive")
        || System.getenv("SPARK_DIST_CLASSPATH") != null
        || jars(conf).stream().anyMatch(this::mayHoldManager);
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
      if (entry.endsWith("*")) {
        Path directory = Path.of(entry.substring(0, entry.length() - 1));
        return isSame(directory, jar.getParent());
      }
      return isSame(Path.of(entry), jar);
    } catch (InvalidPathException e) {
      return false;
    }
  }

  private static boolean isSame(Path first, Path second) {
    try {
      return second != null && Files.exists(first) && Files.isSameFile(first, second);
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * False only for an entry that exists on this machine and lacks the class: an entry that is
   * missing here may exist on the executors' machines.
   */
  private boolean mayHoldManager(String entry) {
    try {
      if (entry.endsWith("*")) {
        Path directory = Path.of(entry.substring(0, entry.length() - 1));
        return !Files.isDirectory(directory) || anyJarHoldsManager(directory);
      }
      Path path = Path.of(entry);
      if (Files.isDirectory(path)) {
        return Files.exists(path.resolve(resource(manager)));
      }
      return !Files.isRegularFile(path) || jarHoldsManager(path);
    } catch (IOException | InvalidPathException e) {
      return true;
    }
  }

  private boolean anyJarHoldsManager(Path directory) throws IOException {
    try (DirectoryStream<Path> jars = Files.newDirectoryStream(directory, "*.{jar,JAR}")) {
      for (Path jar : jars) {
        if (jarHoldsManager(jar)) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean jarHoldsManager(Path path) throws IOException {
    try (JarFile jar = new JarFile(path.toFile(), false)) {
      return jar.getEntry(resource(manager)) != null;
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
