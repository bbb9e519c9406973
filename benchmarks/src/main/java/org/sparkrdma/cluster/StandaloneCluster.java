// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A running Master and its Workers.
 *
 * <p>One thread starts it, runs applications on it one after the other and closes it. {@link
 * #close} may be called by another thread at any time; the second call does nothing.
 */
public final class StandaloneCluster implements AutoCloseable {
  private static final String HOST = "127.0.0.1";
  private static final String MASTER = "org.apache.spark.deploy.master.Master";
  private static final String WORKER = "org.apache.spark.deploy.worker.Worker";
  private static final String SUBMIT = "org.apache.spark.deploy.SparkSubmit";
  private static final Duration START_TIMEOUT = Duration.ofMinutes(2);
  private static final long REGISTRATION_POLL_MS = 200;
  private static final long LIVENESS_POLL_MS = 1_000;

  private final ClusterSettings settings;
  private final int masterPort;
  private final int masterUiPort;
  private final Path logDirectory;
  private final Path shuffleDirectory;
  private final SparkLauncherCommand launcher;
  private final MasterPage masterPage;
  private final LiveProcesses processes = new LiveProcesses();
  private final Thread shutdownHook = new Thread(processes::close, "end-spark-cluster");
  private final List<ClusterProcess> workers = new ArrayList<>();
  private ClusterProcess master;

  private StandaloneCluster(ClusterSettings settings) throws ClusterException, IOException {
    this.settings = settings;
    masterPort = LoopbackPort.free();
    masterUiPort = LoopbackPort.free();
    logDirectory = Files.createDirectories(settings.runDirectory().resolve("logs"));
    shuffleDirectory = Files.createDirectories(settings.runDirectory().resolve("shuffle"));
    launcher = new SparkLauncherCommand(settings.sparkHome(), settings.javaHome());
    masterPage = new MasterPage(URI.create(masterUiUrl() + "/json/").toURL());
  }

  /**
   * Starts all processes and returns when every Worker is registered.
   *
   * @throws ClusterException if a process ends, or the time limit is over; no process keeps running
   *     then
   */
  public static StandaloneCluster start(ClusterSettings settings)
      throws ClusterException, IOException, InterruptedException {
    StandaloneCluster cluster = new StandaloneCluster(settings);
    Runtime.getRuntime().addShutdownHook(cluster.shutdownHook);
    try {
      cluster.startProcesses();
      return cluster;
    } catch (ClusterException | IOException | InterruptedException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private void startProcesses() throws ClusterException, IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + START_TIMEOUT.toNanos();
    master = startMaster();
    // A Worker that starts before its Master waits several seconds before it retries.
    awaitAliveWorkers(0, deadlineNs);
    for (int number = 1; number <= settings.workers(); number++) {
      workers.add(startWorker("worker-" + number));
    }
    awaitAliveWorkers(settings.workers(), deadlineNs);
  }

  private ClusterProcess startMaster() throws ClusterException, IOException {
    List<String> arguments = new ArrayList<>(List.of("--host", HOST));
    arguments.addAll(List.of("--port", Integer.toString(masterPort)));
    arguments.addAll(List.of("--webui-port", Integer.toString(masterUiPort)));
    // Without retries: the Workers cannot find a Master on another port.
    String options = "-Dspark.master.rest.enabled=false -Dspark.port.maxRetries=0";
    return startDaemon("master", MASTER, arguments, Map.of("SPARK_MASTER_OPTS", options));
  }

  private ClusterProcess startWorker(String name) throws ClusterException, IOException {
    List<String> arguments = new ArrayList<>(List.of("--host", HOST));
    arguments.addAll(List.of("--cores", Integer.toString(settings.cores())));
    arguments.addAll(List.of("--memory", settings.memoryMib() + "m"));
    arguments.addAll(List.of("--webui-port", "0"));
    arguments.addAll(List.of("--work-dir", logDirectory.resolve(name).toString()));
    arguments.add(masterUrl());
    return startDaemon(name, WORKER, arguments, Map.of());
  }

  private ClusterProcess startDaemon(
      String name, String mainClass, List<String> arguments, Map<String, String> more)
      throws ClusterException, IOException {
    Map<String, String> variables = variables();
    variables.put("SPARK_DAEMON_MEMORY", "256m");
    variables.putAll(more);
    ProcessBuilder builder = launcher.prepare(mainClass, arguments, variables);
    builder.redirectOutput(log(name, "out").toFile());
    return processes.start(builder, log(name, "log"));
  }

  private Map<String, String> variables() {
    return new HashMap<>(Map.of("SPARK_LOCAL_DIRS", shuffleDirectory.toString()));
  }

  private Path log(String name, String suffix) {
    return logDirectory.resolve(name + "." + suffix);
  }

  private void awaitAliveWorkers(int wanted, long deadlineNs)
      throws ClusterException, InterruptedException {
    while (masterPage.aliveWorkers() < wanted) {
      failUnlessUsable();
      if (System.nanoTime() > deadlineNs) {
        throw new ClusterException(
            "the Spark cluster was not complete within " + START_TIMEOUT.toSeconds() + " s",
            master.log());
      }
      master.process().waitFor(REGISTRATION_POLL_MS, TimeUnit.MILLISECONDS);
    }
  }

  private void failUnlessUsable() throws ClusterException {
    if (!master.isAlive()) {
      throw new ClusterException("Spark's Master has ended unexpectedly", master.log());
    }
    if (!workers.isEmpty() && workers.stream().noneMatch(ClusterProcess::isAlive)) {
      throw new ClusterException("Spark's Workers have ended unexpectedly", workers.get(0).log());
    }
  }

  /**
   * Runs an application in client mode and returns at its end.
   *
   * @param onLine is given each line of the driver's standard output, on a thread of its own; the
   *     standard error goes to {@link #driverLog}
   * @return the exit code of the driver
   * @throws ClusterException if the cluster ends before the application
   */
  public int run(SparkApplication application, Consumer<String> onLine)
      throws ClusterException, IOException, InterruptedException {
    ProcessBuilder builder =
        launcher.prepare(SUBMIT, application.submitArguments(masterUrl()), variables());
    ClusterProcess driver = processes.start(builder, driverLog(application));
    try {
      Thread reader = new Thread(() -> readLines(driver, onLine), "read-" + application.name());
      reader.start();
      while (!driver.process().waitFor(LIVENESS_POLL_MS, TimeUnit.MILLISECONDS)) {
        failUnlessUsable();
      }
      reader.join();
      return driver.process().exitValue();
    } finally {
      processes.end(driver);
    }
  }

  private static void readLines(ClusterProcess driver, Consumer<String> onLine) {
    try (BufferedReader lines = driver.process().inputReader()) {
      lines.lines().forEach(onLine);
    } catch (IOException | UncheckedIOException e) {
      // The pipe breaks when this process ends the driver: no output follows.
      return;
    }
  }

  /** File with the standard error of an application's driver, which is Spark's log. */
  public Path driverLog(SparkApplication application) {
    return driverLog(application.name());
  }

  /** The same, by the name of the application. */
  public Path driverLog(String application) {
    return log(application, "log");
  }

  /** The address that applications are submitted to. */
  public String masterUrl() {
    return "spark://" + HOST + ":" + masterPort;
  }

  /** The address of the Master's web pages. */
  public String masterUiUrl() {
    return "http://" + HOST + ":" + masterUiPort;
  }

  /** The running executors of all Workers. */
  public List<ProcessHandle> executors() {
    return workers.stream().flatMap(worker -> worker.process().children()).toList();
  }

  /** Ends every process of the cluster, executors included, and returns when none is left. */
  @Override
  public void close() {
    processes.close();
    try {
      Runtime.getRuntime().removeShutdownHook(shutdownHook);
    } catch (IllegalStateException e) {
      // The JVM is ending and runs the hook itself.
      return;
    }
  }
}
