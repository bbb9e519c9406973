// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.io.File;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.tools.engines.Probe;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;
import org.sparkrdma.verbs.device.TransportType;

/**
 * Everything that checks read.
 *
 * @param files of this machine; under another root in tests
 * @param environment variables of this process
 * @param spark settings of Spark
 * @param probe result of opening a device
 * @param peer findings about another host; empty when none was asked for
 * @param pause waits between two samples of the same counter
 */
public record Facts(
    SystemFiles files,
    Map<String, String> environment,
    SparkSettings spark,
    Probe probe,
    List<Finding> peer,
    Runnable pause) {
  /** The folder in which the kernel lists RDMA devices. */
  private static final String DEVICES = "sys/class/infiniband";

  private static final String MANY = ",";
  private static final long PAUSE_MS = 1_000;

  /** A pause of a second, for {@link #pause}. */
  public static void waitASecond() {
    try {
      Thread.sleep(PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The ports of all RDMA devices, as paths. */
  List<String> ports() {
    List<String> ports = new ArrayList<>();
    for (String device : files.names(DEVICES)) {
      String directory = DEVICES + "/" + device + "/ports";
      files.names(directory).forEach(port -> ports.add(directory + "/" + port));
    }
    return ports;
  }

  /** Limits of this process; the size of its heap does not matter to the checks. */
  MachineMemory memory() {
    return MachineMemory.under(files.root(), 0, 1);
  }

  /** Whether the chosen device is a loopback device, which needs no hardware, library or limit. */
  boolean loopback() {
    return probe
        .choice()
        .filter(choice -> choice.device().transport() == TransportType.LOOPBACK)
        .isPresent();
  }

  /**
   * The folders into which Spark writes map outputs, as its {@code Utils.getConfiguredLocalDirs}
   * decides: a Worker of a standalone cluster gives its executors SPARK_EXECUTOR_DIRS, and
   * SPARK_LOCAL_DIRS wins over {@code spark.local.dir}.
   */
  public static List<Path> localDirectories(SparkSettings spark, Map<String, String> environment) {
    return localDirectoryNames(spark, environment).flatMap(name -> path(name).stream()).toList();
  }

  /** Empty where the locale of this process does not have the characters of the name. */
  static Optional<Path> path(String name) {
    try {
      return Optional.of(Path.of(name));
    } catch (InvalidPathException e) {
      return Optional.empty();
    }
  }

  static Stream<String> localDirectoryNames(SparkSettings spark, Map<String, String> environment) {
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
    return Stream.of(text.split(MANY, -1)).map(String::trim).filter(name -> !name.isEmpty());
  }
}
