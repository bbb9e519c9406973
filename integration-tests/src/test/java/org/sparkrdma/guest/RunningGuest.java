// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A run in progress.
 *
 * <p>Confined to the test that started it, which closes it. Close kills all processes of the run
 * and returns when they have ended; a second close does nothing. A separate thread reads the output
 * and ends with the run.
 */
final class RunningGuest implements AutoCloseable {
  private final String tool;
  private final String name;
  private final int nodes;
  private final Path output;
  private final Process process;
  private final Thread reader;
  private final List<String> lines = new ArrayList<>();
  private boolean ended;

  private RunningGuest(String tool, String name, int nodes, Path output, Process process) {
    this.tool = tool;
    this.name = name;
    this.nodes = nodes;
    this.output = output;
    this.process = process;
    this.reader = new Thread(this::read, "guest-output");
  }

  static RunningGuest start(
      String tool,
      String name,
      int nodes,
      Path output,
      List<String> command,
      Map<String, String> environment)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    RunningGuest running = new RunningGuest(tool, name, nodes, output, process);
    running.reader.start();
    return running;
  }

  /** The name that {@code ./dev/guest ctl} takes. */
  String name() {
    return name;
  }

  /**
   * Waits until every node has printed a line that contains the text; the run's time limit bounds
   * it.
   *
   * @throws IllegalStateException if the run ends before that
   */
  void awaitLine(String text) throws InterruptedException {
    synchronized (lines) {
      while (lines.stream().filter(line -> line.contains(text)).count() < nodes) {
        if (ended) {
          throw new IllegalStateException("ended without text=" + text + ": " + lines);
        }
        lines.wait();
      }
    }
  }

  /** Cuts the wires; packets get lost, ports stay up. */
  void linkDown() throws IOException, InterruptedException {
    ctlOrFail("link", "down");
  }

  /** Restores the wires. */
  void linkUp() throws IOException, InterruptedException {
    ctlOrFail("link", "up");
  }

  /** Sets a rule of tc netem on both ends of the wires, or {@code off}. */
  void netem(String rule) throws IOException, InterruptedException {
    ctlOrFail("netem", rule);
  }

  /** Loses messages on filtered wires: which and how many, such as {@code REQ 1}. */
  void lose(String messages) throws IOException, InterruptedException {
    ctlOrFail("lose", messages);
  }

  /** The messages that filtered wires lost, one line each; known after the end. */
  List<String> lostMessages() throws IOException {
    Path lost = output.resolve("lost");
    return Files.exists(lost) ? Files.readAllLines(lost) : List.of();
  }

  /** Kills a node's kernel at once. */
  void kill(int node) throws IOException, InterruptedException {
    ctlOrFail("kill", Integer.toString(node));
  }

  /** Runs a line of bash as root on a running node. */
  NodeResult exec(int node, String line) throws IOException, InterruptedException {
    return ctl("exec", Integer.toString(node), line);
  }

  /** Waits for the end; false after the time-out. */
  boolean waitFor(long time, TimeUnit unit) throws InterruptedException {
    return process.waitFor(time, unit);
  }

  /** Waits for the end; the run's time limit bounds it. */
  GuestResult await() throws IOException, InterruptedException {
    int exitCode = process.waitFor();
    reader.join();
    List<NodeResult> results = new ArrayList<>();
    for (int node = 1; node <= nodes; node++) {
      String exit = read(node, "exit").strip();
      results.add(
          new NodeResult(
              exit.isEmpty() ? exitCode : Integer.parseInt(exit),
              read(node, "out"),
              read(node, "err")));
    }
    synchronized (lines) {
      return new GuestResult(exitCode, String.join("\n", lines), List.copyOf(results));
    }
  }

  @Override
  public void close() {
    process.destroy();
    boolean interrupted = false;
    while (reader.isAlive() || process.isAlive()) {
      try {
        process.waitFor();
        reader.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void ctlOrFail(String... what) throws IOException, InterruptedException {
    NodeResult result = ctl(what);
    if (result.exitCode() != 0) {
      throw new IllegalStateException(
          "ctl failed: what=" + String.join(" ", what) + " output=" + result.err());
    }
  }

  private NodeResult ctl(String... what) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(tool, "ctl", name));
    command.addAll(List.of(what));
    Path errors = Files.createTempFile(output, "ctl", ".err");
    Process ctl = new ProcessBuilder(command).redirectError(errors.toFile()).start();
    String out = new String(ctl.getInputStream().readAllBytes(), UTF_8);
    return new NodeResult(ctl.waitFor(), out, Files.readString(errors));
  }

  private String read(int node, String stream) throws IOException {
    Path file = output.resolve("node" + node + "." + stream);
    return Files.exists(file) ? Files.readString(file) : "";
  }

  private void read() {
    try (BufferedReader in = process.inputReader(UTF_8)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        synchronized (lines) {
          lines.add(line);
          lines.notifyAll();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      synchronized (lines) {
        ended = true;
        lines.notifyAll();
      }
    }
  }
}
