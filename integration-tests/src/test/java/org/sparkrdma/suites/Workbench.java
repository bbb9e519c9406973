// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Artifacts of the build for the runs: Spark's jars, the libraries of the suites, the plug-in's jar
 * and the jar of this project's suites. Immutable.
 */
final class Workbench {
  private final Path directory;
  private final Path sparkJars;
  private final List<Path> testLibraries;
  private final Path pluginJar;
  private final Path jobsJar;
  private final List<String> jvmOptions;

  private Workbench(
      Path directory,
      Path sparkJars,
      List<Path> testLibraries,
      Path pluginJar,
      Path jobsJar,
      List<String> jvmOptions) {
    this.directory = directory;
    this.sparkJars = sparkJars;
    this.testLibraries = testLibraries;
    this.pluginJar = pluginJar;
    this.jobsJar = jobsJar;
    this.jvmOptions = jvmOptions;
  }

  /** Reads the system properties {@code it.*} of the build. */
  static Workbench fromBuild() throws IOException {
    Path directory = Path.of(property("it.directory"));
    Set<Path> ofSpark = new HashSet<>(paths("it.spark.classpath"));
    List<Path> testLibraries =
        paths("it.test.classpath").stream().filter(jar -> !ofSpark.contains(jar)).toList();
    return new Workbench(
        directory,
        Path.of(property("it.spark.home")).resolve("jars"),
        testLibraries,
        packaged("it.plugin.jar"),
        packaged("it.jobs.jar"),
        List.of(property("it.jvm.options").split(" +")));
  }

  /** Parent of the runs' directories. */
  Path directory() {
    return directory;
  }

  Path pluginJar() {
    return pluginJar;
  }

  /** The jar of this project's suites and their jobs. */
  Path jobsJar() {
    return jobsJar;
  }

  /** Further libraries of the suites: ScalaTest, Spark's test jars and their dependencies. */
  List<Path> testLibraries() {
    return testLibraries;
  }

  /** Options that Spark's launcher passes to every JVM. */
  List<String> jvmOptions() {
    return jvmOptions;
  }

  /** Creates a Spark home, which needs only the jars. */
  Path newSparkHome(Path home) throws IOException {
    Files.createDirectories(home);
    Files.createSymbolicLink(home.resolve("jars"), sparkJars);
    return home;
  }

  private static List<Path> paths(String key) throws IOException {
    String classPath = Files.readString(Path.of(property(key))).strip();
    return new ArrayList<>(
        Arrays.stream(classPath.split(File.pathSeparator, -1)).map(Path::of).toList());
  }

  private static Path packaged(String key) {
    Path jar = Path.of(property(key));
    if (!Files.isRegularFile(jar)) {
      throw new IllegalStateException("not a packaged jar: " + key + "=" + jar);
    }
    return jar;
  }

  private static String property(String key) {
    String value = System.getProperty(key);
    if (value == null) {
      throw new IllegalStateException("not run by the build: " + key + " is not set");
    }
    return value;
  }
}
