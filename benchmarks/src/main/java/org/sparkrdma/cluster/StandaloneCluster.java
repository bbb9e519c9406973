// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
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
  private static final String DEPLOY = "org.apache.spark.deploy.";
  private static final Duration START_TIMEOUT = Duration.ofMinutes(2);
  private static final long REGISTRATION_POLL_MS = 200;
  private static final long LIVENESS_POLL_MS = 1_000;
  private static final int LOWEST_PORT = 12_000;
  private static final int HIGHEST_PORT = 32_767;
  private static final int PORT_TRIES = 100;

  private final ClusterSettings settings;
  private final int masterPort;
  private final int masterUiPort;
  private final int shuffleServicePort;
  private final Path logDirectory;
  private final Map<String, String> variables;
  private final SparkLauncherCommand launcher;
  private final LiveProcesses processes = new LiveProcesses();
  private final List<Process> workers = new ArrayList<>();
  private Process master;

  private StandaloneCluster(ClusterSettings settings) throws IOException {
    this.settings = settings;
    masterPort = freePort();
    masterUiPort = freePort();
    shuffleServicePort = freePort();
    logDirectory = Files.createDirectories(settings.runDirectory().resolve("logs"));
    Path shuffle = Files.createDirectories(settings.runDirectory().resolve("shuffle"));
    variables = Map.of("SPARK_LOCAL_DIRS", shuffle.toString(), "SPARK_DAEMON_MEMORY", "256m");
    launcher = new SparkLauncherCommand(settings.sparkHome(), settings.javaHome());
  }

  /**
   * Starts all processes and returns when every Worker is registered.
   *
   * @throws LaunchException if a process ends, or the time limit is over; no process keeps running
   *     then
   */
  public static StandaloneCluster start(ClusterSettings settings)
      throws LaunchException, IOException, InterruptedException {
    StandaloneCluster cluster = new StandaloneCluster(settings);
    Thread endHook = new Thread(cluster.processes::close, "end-spark-cluster");
    Runtime.getRuntime().addShutdownHook(endHook);
    try {
      cluster.startProcesses();
      return cluster;
    } catch (LaunchException | IOException | InterruptedException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private void startProcesses() throws LaunchException, IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + START_TIMEOUT.toNanos();
    master = startMaster();
    // A Worker that starts before its Master waits several seconds before it retries.
    awaitAliveWorkers(0, deadlineNs);
    for (int number = 1; number <= settings.workers(); number++) {
      workers.add(startWorker("worker-" + number));
    }
    awaitAliveWorkers(settings.workers(), deadlineNs);
  }

  private Process startMaster() throws LaunchException, IOException {
    List<String> arguments = new ArrayList<>(List.of("--host", HOST));
    arguments.addAll(List.of("--port", Integer.toString(masterPort)));
    arguments.addAll(List.of("--webui-port", Integer.toString(masterUiPort)));
    // Without retries: the Workers cannot find a Master on another port.
    String options = "-Dspark.master.rest.enabled=false -Dspark.port.maxRetries=0";
    return startDaemon("master", "master.Master", arguments, options);
  }

  private Process startWorker(String name) throws LaunchException, IOException {
    List<String> arguments = new ArrayList<>(List.of("--host", HOST));
    arguments.addAll(List.of("--cores", Integer.toString(settings.cores())));
    arguments.addAll(List.of("--memory", settings.memoryMib() + "m"));
    arguments.addAll(List.of("--webui-port", "0"));
    arguments.addAll(List.of("--work-dir", logDirectory.resolve(name).toString()));
    arguments.add(masterUrl());
    String service =
        "-XX:+AlwaysPreTouch -Xms256m -Dspark.shuffle.service.enabled=true"
            + " -Dspark.shuffle.service.port=";
    String options = settings.workers() > 1 ? "" : service + shuffleServicePort;
    return startDaemon(name, "worker.Worker", arguments, options);
  }

  private Process startDaemon(
      String name, String mainClass, List<String> arguments, String javaOptions)
      throws LaunchException, IOException {
    Map<String, String> all = new HashMap<>(variables);
    all.put("SPARK_DAEMON_JAVA_OPTS", javaOptions);
    ProcessBuilder builder = launcher.prepare(DEPLOY + mainClass, arguments, all, log(name));
    return processes.start(builder.redirectOutput(logDirectory.resolve(name + ".out").toFile()));
  }

  private void awaitAliveWorkers(int wanted, long deadlineNs)
      throws LaunchException, InterruptedException {
    while (aliveWorkers() < wanted) {
      failUnlessUsable();
      if (System.nanoTime() > deadlineNs) {
        throw new LaunchException(
            "the Spark cluster was not complete within " + START_TIMEOUT.toSeconds() + " s",
            log("master"));
      }
      master.waitFor(REGISTRATION_POLL_MS, TimeUnit.MILLISECONDS);
    }
  }

  /** Asks the system, because {@link Process} is informed of the end by a thread, later. */
  private void failUnlessUsable() throws LaunchException {
    if (!master.toHandle().isAlive()) {
      throw new LaunchException("Spark's Master has ended unexpectedly", log("master"));
    }
    if (!workers.isEmpty() && workers.stream().noneMatch(each -> each.toHandle().isAlive())) {
      throw new LaunchException("Spark's Workers have ended unexpectedly", log("worker-1"));
    }
  }

  /**
   * Runs an application in client mode and returns at its end.
   *
   * @param name name of the application's log files; short, without spaces
   * @param arguments of SparkSubmit, without the master
   * @param onLine is given each line of the driver's standard output, on a thread of its own; the
   *     standard error goes to {@link #log}
   * @return the exit code of the driver
   * @throws LaunchException if the cluster ends before the application
   */
  public int run(String name, List<String> arguments, Consumer<String> onLine)
      throws LaunchException, IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of("--master", masterUrl()));
    all.addAll(arguments);
    Process driver =
        processes.start(launcher.prepare(DEPLOY + "SparkSubmit", all, variables, log(name)));
    try {
      Thread reader = new Thread(() -> readLines(driver, onLine), "read-" + name);
      reader.start();
      while (!driver.waitFor(LIVENESS_POLL_MS, TimeUnit.MILLISECONDS)) {
        failUnlessUsable();
      }
      reader.join();
      return driver.exitValue();
    } finally {
      processes.end(driver);
    }
  }

  private static void readLines(Process driver, Consumer<String> onLine) {
    try (BufferedReader lines = driver.inputReader()) {
      lines.lines().forEach(onLine);
    } catch (IOException | UncheckedIOException e) {
      // The pipe breaks when this process ends the driver: no output follows.
      return;
    }
  }

  /** File with the standard error of an application's driver or a daemon, which is Spark's log. */
  public Path log(String name) {
    return logDirectory.resolve(name + ".log");
  }

  /** The address that applications are submitted to. */
  public String masterUrl() {
    return "spark://" + HOST + ":" + masterPort;
  }

  /** The address of the Master's web pages. */
  public String masterUiUrl() {
    return "http://" + HOST + ":" + masterUiPort;
  }

  /** Port of the shuffle service, which a single Worker has: several would need different ports. */
  public int shuffleServicePort() {
    return shuffleServicePort;
  }

  /** The running executors of all Workers; those of one Worker in the order of their start. */
  public List<ProcessHandle> executors() {
    return workers.stream().flatMap(worker -> worker.children().sorted()).toList();
  }

  /** Ends every process of the cluster, executors included, and returns when none is left. */
  @Override
  public void close() {
    processes.close();
  }

  /** Number of Workers that the Master's web page counts as alive; -1 without an answer. */
  private int aliveWorkers() {
    try (InputStream page = URI.create(masterUiUrl() + "/json/").toURL().openStream()) {
      return new ObjectMapper().readTree(page).path("aliveworkers").asInt(-1);
    } catch (IOException e) {
      return -1;
    }
  }

  /**
   * A port of 127.0.0.1 without a listener at the time of the call.
   *
   * <p>Linux gives ports from 32768 on to sockets that ask for any (ip_local_port_range in ip(7)),
   * so another process could take one of those before its user listens on it. A free port is
   * therefore chosen below.
   */
  static int freePort() {
    IOException last = null;
    for (int i = 0; i < PORT_TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(LOWEST_PORT, HIGHEST_PORT + 1);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (IOException e) {
        last = e;
      }
    }
    throw new UncheckedIOException("no free port on " + HOST, last);
  }
}
