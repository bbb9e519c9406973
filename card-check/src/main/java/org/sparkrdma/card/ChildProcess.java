// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A process whose lines of standard output are handed on as they come, on a thread of their own;
 * its errors go to those of this process. {@link #close} kills it and all processes that it has
 * started. Confined to its creator, who closes it.
 */
final class ChildProcess implements AutoCloseable {
  /** A process that hangs in the kernel may not end even when it is killed. */
  private static final Duration KILL_LIMIT = Duration.ofSeconds(10);

  private final Process process;
  private final Thread reader;

  /** Ends it when a signal ends this process. */
  private final Thread atExit = new Thread(this::kill, "end of child process");

  /**
   * Starts a program.
   *
   * @param environment variables that are added to those of this process
   */
  ChildProcess(List<String> command, Map<String, String> environment, Consumer<String> lines)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(environment);
    process = builder.start();
    try {
      Runtime.getRuntime().addShutdownHook(atExit);
      process.getOutputStream().close();
    } catch (IOException | IllegalStateException e) {
      // This process ends already.
      kill();
      throw e;
    }
    reader = new Thread(() -> read(lines), "output of child process");
    reader.setDaemon(true);
    reader.start();
  }

  private void read(Consumer<String> lines) {
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      output.lines().forEach(lines);
    } catch (IOException | UncheckedIOException e) {
      // The process was killed.
      lines.accept("");
    }
  }

  /**
   * Waits for the end of the process and of its output.
   *
   * @return its exit code; empty when it did not end before {@code end}, and was killed
   */
  OptionalInt await(Instant end) throws InterruptedException {
    long leftMs = Duration.between(Instant.now(), end).toMillis();
    boolean ended = process.waitFor(leftMs, TimeUnit.MILLISECONDS);
    if (!ended) {
      close();
    }
    reader.join(KILL_LIMIT.toMillis());
    return ended ? OptionalInt.of(process.exitValue()) : OptionalInt.empty();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  @Override
  public void close() {
    kill();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // The hook itself, or another one, closes it.
      return;
    }
    try {
      process.waitFor(KILL_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void kill() {
    List<ProcessHandle> started = process.descendants().toList();
    process.destroyForcibly();
    started.forEach(ProcessHandle::destroyForcibly);
  }
}
