// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A running History Server of the cluster's Spark, on a port of its own choice. Confined to one
 * thread; its cluster ends it at the latest.
 */
public final class HistoryServer implements AutoCloseable {
  /** Up to the end of the line: while Spark writes it, the log may end amid the port. */
  private static final Pattern STARTED = Pattern.compile("started at http://\\S+:(\\d+)\\R");

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final long POLL_MS = 100;

  private final LiveProcesses processes;
  private final ClusterProcess process;
  private int port;

  HistoryServer(LiveProcesses processes, ClusterProcess process) {
    this.processes = processes;
    this.process = process;
  }

  /**
   * Variables of its environment.
   *
   * @param events directory with event logs
   * @param jars on its class path
   */
  static Map<String, String> variables(Path events, List<Path> jars) {
    return Map.of(
        "SPARK_HISTORY_OPTS",
        "-Dspark.history.ui.port=0 -Dspark.history.fs.update.interval=1s"
            + " -Dspark.history.fs.logDirectory="
            + events.toUri(),
        "SPARK_DAEMON_CLASSPATH",
        String.join(":", jars.stream().map(Path::toString).toList()));
  }

  /** Returns when it has logged its port. */
  void awaitStart() throws ClusterException, IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + LIMIT.toNanos();
    OptionalInt logged = port(Files.readString(process.log()));
    while (logged.isEmpty()) {
      if (!process.isAlive() || System.nanoTime() > deadlineNs) {
        throw new ClusterException("the History Server did not start", process.log());
      }
      process.process().waitFor(POLL_MS, TimeUnit.MILLISECONDS);
      logged = port(Files.readString(process.log()));
    }
    port = logged.getAsInt();
  }

  /** The port that a History Server has logged; empty before that. */
  static OptionalInt port(String log) {
    Matcher started = STARTED.matcher(log);
    return started.find()
        ? OptionalInt.of(Integer.parseInt(started.group(1)))
        : OptionalInt.empty();
  }

  /** The address of its pages, without a slash at the end. */
  public String url() {
    return "http://127.0.0.1:" + port;
  }

  /** Lines of its log so far. */
  public List<String> log() throws IOException {
    return Files.readAllLines(process.log());
  }

  @Override
  public void close() {
    processes.end(process);
  }
}
