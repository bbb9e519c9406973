// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
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
import org.sparkrdma.cluster.LiveProcesses.ClusterProcess;

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
  private static final int PAGE_TIMEOUT_MS = 5_000;
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
  private final Thread shutdownHook = new Thread(processes::close, "end-spark-cluster");
  private final List<ClusterProcess> workers = new ArrayList<>();
  private ClusterProcess master;

  private StandaloneCluster(ClusterSettings settings) throws IOException {
    this.settings = settings;
    masterPort = freePort();
    masterUiPort = freePort();
    shuffleServicePort = freePort();
    logDirectory = Files.createDirectories(settings.runDirectory().resolve("logs"));
    Path shuffle = Files.createDirectories(settings.runDirectory().resolve("shuffle"));
    variables = Map.of("SPARK_LOCAL_DIRS", shuffle.toString());
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
    Runtime.getRuntime().addShutdownHook(cluster.shutdownHook);
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

  private ClusterProcess startMaster() throws LaunchException, IOException {
    List<String> arguments = new ArrayList<>(List.of("--host", HOST));
    arguments.addAll(List.of("--port", Integer.toString(masterPort)));
    arguments.addAll(List.of("--webui-port", Integer.toString(masterUiPort)));
    // Without retries: the Workers cannot find a Master on another port.
    String options = "-Dspark.master.rest.enabled=false -Dspark.port.maxRetries=0";
    return startDaemon(
        "master", DEPLOY + "master.Master", arguments, Map.of("SPARK_MASTER_OPTS", options));
  }

  private ClusterProcess startWorker(String name) throws LaunchException, IOException {
    List<String> arguments = new ArrayList<>(List.of("--host", HOST));
    arguments.addAll(List.of("--cores", Integer.toString(settings.cores())));
    arguments.addAll(List.of("--memory", settings.memoryMib() + "m"));
    arguments.addAll(List.of("--webui-port", "0"));
    arguments.addAll(List.of("--work-dir", logDirectory.resolve(name).toString()));
    arguments.add(masterUrl());
    String options =
        settings.workers() > 1
            ? ""
            : "-XX:+AlwaysPreTouch -Xms256m -Dspark.shuffle.service.enabled=true"
                + " -Dspark.shuffle.service.port="
                + shuffleServicePort;
    return startDaemon(
        name, DEPLOY + "worker.Worker", arguments, Map.of("SPARK_WORKER_OPTS", options));
  }

  private ClusterProcess startDaemon(
      String name, String mainClass, List<String> arguments, Map<String, String> more)
      throws LaunchException, IOException {
    Map<String, String> all = new HashMap<>(variables);
    all.put("SPARK_DAEMON_MEMORY", "256m");
    all.putAll(more);
    ProcessBuilder builder = launcher.prepare(mainClass, arguments, all);
    builder.redirectOutput(log(name, "out").toFile());
    return processes.start(builder, log(name, "log"));
  }

  private Path log(String name, String suffix) {
    return logDirectory.resolve(name + "." + suffix);
  }

  private void awaitAliveWorkers(int wanted, long deadlineNs)
      throws LaunchException, InterruptedException {
    while (aliveWorkers() < wanted) {
      failUnlessUsable();
      if (System.nanoTime() > deadlineNs) {
        throw new LaunchException(
            "the Spark cluster was not complete within " + START_TIMEOUT.toSeconds() + " s",
            master.log());
      }
      master.process().waitFor(REGISTRATION_POLL_MS, TimeUnit.MILLISECONDS);
    }
  }

  private void failUnlessUsable() throws LaunchException {
    if (!master.isAlive()) {
      throw new LaunchException("Spark's Master has ended unexpectedly", master.log());
    }
    if (!workers.isEmpty() && workers.stream().noneMatch(ClusterProcess::isAlive)) {
      throw new LaunchException("Spark's Workers have ended unexpectedly", workers.get(0).log());
    }
  }

  /**
   * Runs an application in client mode and returns at its end.
   *
   * @param onLine is given each line of the driver's standard output, on a thread of its own; the
   *     standard error goes to {@link #driverLog}
   * @return the exit code of the driver
   * @throws LaunchException if the cluster ends before the application
   */
  public int run(Application application, Consumer<String> onLine)
      throws LaunchException, IOException, InterruptedException {
    ProcessBuilder builder =
        launcher.prepare(
            DEPLOY + "SparkSubmit", application.submitArguments(masterUrl()), variables);
    ClusterProcess driver = processes.start(builder, driverLog(application.name()));
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

  /** Port of the shuffle service, which a single Worker has: several would need different ports. */
  public int shuffleServicePort() {
    return shuffleServicePort;
  }

  /** The running executors of all Workers; those of one Worker in the order of their start. */
  public List<ProcessHandle> executors() {
    return workers.stream().flatMap(worker -> worker.process().children().sorted()).toList();
  }

  /** Ends every process of the cluster, executors included, and returns when none is left. */
  @Override
  public void close() {
    processes.close();
    LiveProcesses.tryRemove(shutdownHook);
  }

  /** Number of Workers that the Master's web page counts as alive; -1 without an answer. */
  private int aliveWorkers() {
    try {
      var connection =
          (HttpURLConnection) URI.create(masterUiUrl() + "/json/").toURL().openConnection();
      connection.setConnectTimeout(PAGE_TIMEOUT_MS);
      connection.setReadTimeout(PAGE_TIMEOUT_MS);
      try (var body = connection.getInputStream()) {
        return new ObjectMapper().readTree(body).path("aliveworkers").asInt(-1);
      }
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

  /**
   * The arguments of one spark-submit.
   *
   * @param name name of the application and of its log files; short, without spaces
   * @param mainClass the class with {@code main}
   * @param jar the application's jar
   * @param jars libraries of the application that Spark does not ship, for {@code --jars}
   * @param driverMemoryMb heap of the driver in MiB
   * @param conf Spark properties, as given by {@code --conf}
   * @param arguments for {@code main}
   */
  public record Application(
      String name,
      String mainClass,
      Path jar,
      List<Path> jars,
      int driverMemoryMb,
      Map<String, String> conf,
      List<String> arguments) {

    /** The arguments of SparkSubmit for this application on the given master. */
    List<String> submitArguments(String masterUrl) {
      List<String> all = new ArrayList<>(List.of("--master", masterUrl));
      all.addAll(List.of("--driver-memory", driverMemoryMb + "m"));
      conf.forEach((key, value) -> all.addAll(List.of("--conf", key + "=" + value)));
      if (!jars.isEmpty()) {
        all.addAll(List.of("--jars", String.join(",", jars.stream().map(Path::toString).toList())));
      }
      all.addAll(List.of("--class", mainClass, jar.toString()));
      all.addAll(arguments);
      return all;
    }
  }
}
