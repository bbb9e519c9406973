// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.apache.commons.io.input.ReversedLinesFileReader;
import org.sparkrdma.cluster.ClusterSettings;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.cluster.LiveProcesses;
import org.sparkrdma.cluster.StandaloneCluster;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The options of commands that start a cluster, and their runs: the work on a cluster of its own,
 * whose data are deleted afterwards; table and report. The logs of a failed run stay, and with
 * {@code --keep} everything.
 *
 * <p>Confined to the main thread. When a signal ends the JVM, a shutdown hook ends the cluster and
 * deletes the data.
 */
public final class ClusterOptions extends LaunchOptions {
  private static final int FAILURE = 1;
  private static final int LOG_LINES = 20;

  @Mixin private LaunchOptions.Report report;

  @Option(names = "--keep")
  private boolean keep;

  @Option(names = "--conf", paramLabel = "KEY=VALUE")
  private Map<String, String> conf = new TreeMap<>();

  /** Work of a command on its running cluster. */
  @FunctionalInterface
  public interface Work {
    /** Returns at the end of the work. */
    void run(MeasuringRuns runs) throws LaunchException, IOException, InterruptedException;
  }

  /** The option of the report. */
  public LaunchOptions.Report report() {
    return report;
  }

  /**
   * Refuses a report that cannot be written; then starts two Workers, does the work, ends the
   * cluster.
   *
   * @param script name at the start of its messages
   * @param adjust changes the settings of the cluster
   * @return the exit code; failures of the work have been printed to standard error
   */
  public int run(String script, UnaryOperator<ClusterSettings> adjust, Work work)
      throws LaunchException, IOException, InterruptedException {
    report.check();
    checkConf(conf, Set.of());
    RunDirectory directory = RunDirectory.create(workDirectory());
    try {
      runOnCluster(script, directory, adjust, work);
    } catch (LaunchException e) {
      fail(script, e, directory);
      return FAILURE;
    }
    if (keep) {
      progress().log("data and logs are kept in " + directory.path());
    } else {
      directory.deleteAll();
    }
    return 0;
  }

  /** The settings of {@code --conf}. */
  public Map<String, String> conf() {
    return conf;
  }

  /**
   * Refuses settings that an application would ignore.
   *
   * @param fixed keys that the command sets itself
   * @throws MisuseException that names the key and what is allowed
   */
  public static void checkConf(Map<String, String> conf, Set<String> fixed) {
    for (String key : conf.keySet()) {
      if (!key.startsWith("spark.")) {
        throw new MisuseException("--conf %s: keys of Spark begin with spark.".formatted(key));
      }
      if (fixed.contains(key)) {
        throw new MisuseException(
            "--conf %s: the benchmark sets this key itself, so that its runs can be compared; it sets %s"
                .formatted(key, String.join(", ", new TreeSet<>(fixed))));
      }
    }
  }

  private void runOnCluster(
      String script, RunDirectory directory, UnaryOperator<ClusterSettings> adjust, Work work)
      throws LaunchException, IOException, InterruptedException {
    ClusterSettings settings =
        adjust.apply(ClusterSettings.twoWorkers(installation().sparkHome(), directory.path()));
    progress()
        .log("starting a Spark cluster: a Master and %d Workers".formatted(settings.workers()));
    try (StandaloneCluster cluster = StandaloneCluster.start(settings)) {
      Thread endHook = new Thread(() -> endEarly(script, cluster, directory), "end-" + script);
      Runtime.getRuntime().addShutdownHook(endHook);
      try {
        progress().log("cluster is up, its web page is " + cluster.masterUiUrl());
        work.run(new MeasuringRuns(cluster, installation(), directory, progress(), conf));
      } finally {
        LiveProcesses.remove(endHook);
      }
    }
  }

  /** Shutdown hook for Ctrl-C and other signals: ends all processes and deletes the data. */
  private static void endEarly(String script, StandaloneCluster cluster, RunDirectory directory) {
    System.err.println();
    Launcher.printError(script, "interrupted: ending the cluster and deleting its data");
    cluster.close();
    try {
      directory.deleteAll();
    } catch (IOException e) {
      Launcher.printError(script, "cannot delete " + directory.path() + ": " + e.getMessage());
    }
  }

  private static void fail(String script, LaunchException failure, RunDirectory directory)
      throws IOException {
    Launcher.printError(script, failure.getMessage());
    Optional<Path> log = failure.log();
    if (log.isPresent() && Files.exists(log.get())) {
      System.err.println("last lines of " + log.get() + ":");
      var builder = ReversedLinesFileReader.builder().setPath(log.get());
      try (var lines = builder.setCharset(StandardCharsets.ISO_8859_1).get()) {
        System.err.print(lines.toString(LOG_LINES).indent(2));
      }
    }
    directory.deleteData();
    if (directory.hasLogs()) {
      System.err.println("all logs are in " + directory.logs());
    }
  }

  /**
   * Prints the table, then writes the report file, if there is one.
   *
   * @throws LaunchException with the reason why the report was not written
   */
  public void publish(String table, Object results) throws LaunchException {
    System.out.println();
    System.out.println(table);
    report.write(results);
  }
}
