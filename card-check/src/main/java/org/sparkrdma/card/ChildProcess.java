// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A process whose lines are handed on as they come, on threads of their own. {@link #close} kills
 * it and all processes that it has started, also at the end of this JVM. Confined to its creator,
 * who closes it.
 */
final class ChildProcess implements AutoCloseable {
  /** A process that hangs in the kernel may not end even when it is killed. */
  private static final Duration KILL_LIMIT = Duration.ofSeconds(10);

  private static final Duration OUTPUT_LIMIT = Duration.ofSeconds(5);

  private final Process process;
  private final List<Thread> readers = new ArrayList<>();
  private final Thread atExit = new Thread(this::kill, "end of child process");

  private ChildProcess(Process process) {
    this.process = process;
  }

  /**
   * Starts a program.
   *
   * @param environment variables that are added to those of this process
   * @param lines receives each line of its standard output
   * @param errors receives each line of its error stream
   */
  static ChildProcess start(
      List<String> command,
      Map<String, String> environment,
      Consumer<String> lines,
      Consumer<String> errors)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    ChildProcess child = new ChildProcess(builder.start());
    Runtime.getRuntime().addShutdownHook(child.atExit);
    child.process.getOutputStream().close();
    child.read(child.process.inputReader(StandardCharsets.UTF_8), lines);
    child.read(child.process.errorReader(StandardCharsets.UTF_8), errors);
    return child;
  }

  private void read(BufferedReader output, Consumer<String> lines) {
    Thread reader =
        new Thread(
            () -> {
              try {
                for (String line = output.readLine(); line != null; line = output.readLine()) {
                  lines.accept(line);
                }
              } catch (IOException e) {
                // The process was killed.
                lines.accept("");
              }
            },
            "output of child process");
    reader.setDaemon(true);
    reader.start();
    readers.add(reader);
  }

  /**
   * Waits for the end of the process and of its output.
   *
   * @return its exit code; empty when it did not end in time, and was killed
   */
  OptionalInt await(Duration limit) throws InterruptedException {
    boolean ended = process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS);
    if (!ended) {
      kill();
    }
    for (Thread reader : readers) {
      // A process that was started by the child may still have the stream open.
      reader.join(OUTPUT_LIMIT.toMillis());
    }
    return ended ? OptionalInt.of(process.exitValue()) : OptionalInt.empty();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  private void kill() {
    List<ProcessHandle> started = process.descendants().toList();
    process.destroyForcibly();
    started.forEach(ProcessHandle::destroyForcibly);
    try {
      process.waitFor(KILL_LIMIT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    kill();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // The JVM is ending, and the hook has run or runs.
      return;
    }
  }
}
