// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.io.File;
import java.net.InetAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.tools.engines.FileErrors;
import org.sparkrdma.shuffle.tools.engines.Probe;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;
import org.sparkrdma.verbs.device.Transport;

/**
 * Everything that checks read.
 *
 * @param files of this machine; under another root in tests
 * @param environment variables of this process
 * @param java system properties of this JVM
 * @param spark settings of Spark
 * @param probe result of opening a device
 * @param sparkHost Spark's own address as the command assumes it; empty in an executor, which has
 *     one
 * @param peer findings about another host; empty when none was asked for
 * @param pause waits between two samples of the same counter
 */
public record Facts(
    SystemFiles files,
    Map<String, String> environment,
    Map<String, String> java,
    SparkSettings spark,
    Probe probe,
    Optional<InetAddress> sparkHost,
    List<Finding> peer,
    Runnable pause) {
  /** The folder in which the kernel lists RDMA devices. */
  static final String DEVICES = "sys/class/infiniband";

  private static final String MANY = ",";

  /** Names of the RDMA devices in the kernel. */
  List<String> devices() {
    return files.names(DEVICES);
  }

  /** The ports of all RDMA devices, as paths. */
  List<String> ports() {
    List<String> ports = new ArrayList<>();
    for (String device : devices()) {
      String directory = DEVICES + "/" + device + "/ports";
      files.names(directory).forEach(port -> ports.add(directory + "/" + port));
    }
    return ports;
  }

  /** Name of the user of this process. */
  String user() {
    return java.getOrDefault("user.name", "?");
  }

  boolean exists(String file) {
    return files.root().resolve(file).toFile().exists();
  }

  /** Limits of this process; the size of its heap does not matter to the checks. */
  MachineMemory memory() {
    return MachineMemory.under(files.root(), 0, 1);
  }

  /** Whether the chosen device is a loopback device, which needs no hardware, library or limit. */
  boolean loopback() {
    return probe
        .choice()
        .filter(choice -> choice.device().transport() == Transport.LOOPBACK)
        .isPresent();
  }

  /** A finding against RDMA, which is only a note to users of a loopback device. */
  Finding against(String message, String advice) {
    return loopback() ? Finding.note(message, advice) : Finding.problem(message, advice);
  }

  /** Same as {@link #localDirectories(SparkSettings, Map)}. */
  List<Path> localDirectories() {
    return localDirectories(spark, environment);
  }

  /** The names of local directories that are no path for this JVM, each with the reason. */
  Map<String, String> directoriesWithoutPath() {
    Map<String, String> reasons = new TreeMap<>();
    directoryNames(spark, environment).forEach(name -> path(name, reasons));
    return reasons;
  }

  /**
   * The folders into which Spark writes map outputs, as its {@code Utils.getConfiguredLocalDirs}
   * decides: a Worker of a standalone cluster gives its executors SPARK_EXECUTOR_DIRS, and
   * SPARK_LOCAL_DIRS wins over {@code spark.local.dir}. Without names that are no path for this
   * JVM.
   */
  public static List<Path> localDirectories(SparkSettings spark, Map<String, String> environment) {
    return directoryNames(spark, environment).stream()
        .flatMap(name -> path(name, new TreeMap<>()).stream())
        .map(Facts::configured)
        .toList();
  }

  /** The path, or empty, and the reason is added. */
  private static Optional<Path> path(String name, Map<String, String> reasons) {
    try {
      return Optional.of(Path.of(name));
    } catch (InvalidPathException e) {
      reasons.put(name, FileErrors.reason(e));
      return Optional.empty();
    }
  }

  private static List<String> directoryNames(SparkSettings spark, Map<String, String> environment) {
    String yarn = environment.getOrDefault("LOCAL_DIRS", "");
    String ofExecutor = environment.getOrDefault("SPARK_EXECUTOR_DIRS", "");
    String text;
    if (environment.containsKey("CONTAINER_ID") && !yarn.isEmpty()) {
      text = yarn;
    } else if (!ofExecutor.isEmpty()) {
      text = ofExecutor.replace(File.pathSeparator, MANY);
    } else {
      text =
          environment.getOrDefault(
              "SPARK_LOCAL_DIRS",
              spark.value("spark.local.dir", System.getProperty("java.io.tmpdir")));
    }
    return Stream.of(text.split(MANY, -1))
        .map(String::trim)
        .filter(name -> !name.isEmpty())
        .toList();
  }

  /** Removes the directories that a Worker makes, which differ from executor to executor. */
  private static Path configured(Path directory) {
    Path at = directory;
    for (String prefix : List.of("executor-", "spark-")) {
      if (at.getFileName() != null && at.getFileName().toString().startsWith(prefix)) {
        at = at.toAbsolutePath().getParent();
      }
    }
    return at;
  }
}
