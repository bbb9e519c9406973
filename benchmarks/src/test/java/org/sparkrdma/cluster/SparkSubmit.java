// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.jobs.ShuffleBenchmark;
import org.sparkrdma.executors.LeakLog;
import org.sparkrdma.launch.CheckedExecutors;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.Script;

/** Runs {@code spark-submit} of the build's Spark to its end, as Spark's own script does. */
public final class SparkSubmit {
  private static final Duration END_GRACE = Duration.ofSeconds(10);

  private SparkSubmit() {}

  /** Exit code, standard output and standard error. */
  public record Outcome(int exitCode, String output, String errors) {}

  /** The packaged jars. */
  static Installation installation() {
    return new Installation(Path.of("..").toAbsolutePath().normalize());
  }

  /** The jar of a class, for the class path of Spark's processes. */
  static String jarOf(Class<?> type) {
    return type.getProtectionDomain().getCodeSource().getLocation().getPath();
  }

  /**
   * Runs a benchmark job once under each shuffle, without warm-ups, on two executors of their own,
   * which leak nothing where it succeeds.
   *
   * @param directory for its output
   * @param jobJars names of the jars of job-jars that the job needs besides picocli
   * @param job its name and options
   */
  static Outcome runBenchmark(Path directory, List<String> jobJars, Path report, List<String> job)
      throws Exception {
    Installation installation = installation();
    Path folder = installation.jobs().resolveSibling("job-jars");
    List<String> jars = new ArrayList<>();
    jars.add(installation.plugIn().toString());
    jars.add(folder.resolve("picocli-4.7.7.jar").toString());
    jobJars.forEach(name -> jars.add(folder.resolve(name).toString()));
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("--master", "local-cluster[2,1,1024]"));
    arguments.addAll(List.of("--jars", String.join(",", jars)));
    arguments.addAll(List.of("--conf", "spark.shuffle.readHostLocalDisk=false"));
    arguments.addAll(List.of("--conf", "spark.shuffle.rdma.engine=soft"));
    // On a busy machine blocks would come by TCP, too.
    arguments.addAll(List.of("--conf", "spark.shuffle.rdma.waits.factor=100"));
    arguments.addAll(List.of("--class", ShuffleBenchmark.class.getName()));
    arguments.add(installation.jobs().toString());
    arguments.addAll(job);
    arguments.addAll(List.of("--rounds", "1", "--warm-ups", "0", "--report", report.toString()));
    CheckedExecutors executors = CheckedExecutors.in(directory);
    Path home = installation.sparkHome();
    Outcome outcome = run(home, directory, Script.archived(executors), arguments);
    if (outcome.exitCode() != 0) {
      // It may have ended before its executors started.
      return outcome;
    }
    LeakLog leaks = executors.assertNoLeaks();
    assertThat(leaks.ran()).as(outcome.errors()).isPositive();
    for (LeakLog.Executor one : leaks.executors()) {
      // The folder of Workers in the driver's JVM.
      CheckedExecutors.assertNoViolations(home.resolve("work").resolve(one.name().application()));
    }
    return outcome;
  }

  /**
   * Runs it.
   *
   * @param directory for its output
   */
  static Outcome run(Path directory, List<String> arguments) throws Exception {
    return run(installation().sparkHome(), directory, Map.of(), arguments);
  }

  /**
   * Same as the other one, with another Spark home.
   *
   * @param variables of the environment, which are added to those of this process
   */
  public static Outcome run(
      Path sparkHome, Path directory, Map<String, String> variables, List<String> arguments)
      throws Exception {
    Process process = start(sparkHome, directory, variables, arguments);
    try {
      return outcome(process, directory);
    } finally {
      // A test that times out ends its application.
      LiveProcesses.end(List.of(process.toHandle()), END_GRACE);
    }
  }

  /** Starts it. */
  static Process start(
      Path sparkHome, Path directory, Map<String, String> variables, List<String> arguments)
      throws Exception {
    Map<String, String> environment = new HashMap<>(Script.briefly());
    environment.putAll(variables);
    String java = environment.getOrDefault("JAVA_HOME", System.getProperty("java.home"));
    return new SparkLauncherCommand(sparkHome, Path.of(java))
        .prepare(
            "org.apache.spark.deploy.SparkSubmit",
            arguments,
            environment,
            directory.resolve("errors"))
        .redirectOutput(directory.resolve("output").toFile())
        .start();
  }

  /** The outcome at its end. */
  static Outcome outcome(Process process, Path directory) throws Exception {
    return new Outcome(
        process.waitFor(),
        Files.readString(directory.resolve("output")),
        Files.readString(directory.resolve("errors")));
  }
}
