// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Describes a run on one or two guest kernels, and starts it.
 *
 * <p>Immutable; each option makes a new description. A command sees the host's files under an
 * overlay, at their own paths: this JVM's home and class path work there as they are.
 */
final class Guest {
  private static final AtomicInteger RUNS = new AtomicInteger();

  private final int nodes;
  private final List<String> options;
  private final Map<String, String> environment;

  private Guest(int nodes, List<String> options, Map<String, String> environment) {
    this.nodes = nodes;
    this.options = List.copyOf(options);
    this.environment = Map.copyOf(environment);
  }

  /**
   * One kernel, or two with wires between them. Default: 256 MiB of memory and at most 100 seconds.
   */
  static Guest nodes(int nodes) {
    return new Guest(nodes, List.of("--nodes", Integer.toString(nodes)), Map.of())
        .memory("256M")
        .timeout(Duration.ofSeconds(100));
  }

  /** Time limit of the whole run, after which everything is killed. */
  Guest timeout(Duration limit) {
    return with("--timeout", Long.toString(limit.toSeconds()));
  }

  /** Memory of each kernel, such as 512M. */
  Guest memory(String size) {
    return with("--memory", size);
  }

  /** A variable in the command's environment. */
  Guest env(String name, String value) {
    return with("--env", name + "=" + value);
  }

  /** One more option of {@code ./dev/guest run}. */
  Guest with(String option, String value) {
    List<String> more = new ArrayList<>(options);
    more.add(option);
    more.add(value);
    return new Guest(nodes, more, environment);
  }

  /** Runs on kernels of this version, such as 6.1, instead of the tool's default. */
  Guest kernel(String version) {
    return tool("SPARKRDMA_GUEST_LINUX", version);
  }

  /** Runs on kernels that have the options of a file in the tool's directory as well. */
  Guest kernelOptions(String file) {
    Path project = Path.of(Build.property("it.guest.tool")).getParent().getParent();
    return tool(
        "SPARKRDMA_GUEST_CONFIG", project.resolve("integration-tests/guest/" + file).toString());
  }

  private Guest tool(String variable, String value) {
    Map<String, String> more = new HashMap<>(environment);
    more.put(variable, value);
    return new Guest(nodes, options, more);
  }

  /** The value of an option of {@code ./dev/guest run}; the last one counts. */
  String valueOf(String option) {
    int at = options.lastIndexOf(option);
    return at < 0 ? "" : options.get(at + 1);
  }

  /** Runs a command in each kernel to its end. */
  GuestResult run(String... command) throws IOException, InterruptedException {
    try (RunningGuest running = start(command)) {
      return running.await();
    }
  }

  /** Runs a line of bash in each kernel to its end. */
  GuestResult bash(String line) throws IOException, InterruptedException {
    return run("bash", "-c", line);
  }

  /** Starts a command in each kernel; the caller closes the run. */
  RunningGuest start(String... command) throws IOException {
    String name = "it-" + ProcessHandle.current().pid() + "-" + RUNS.incrementAndGet();
    Path output = Path.of(Build.property("it.guest.directory"), name);
    Files.createDirectories(output);
    List<String> words = new ArrayList<>(List.of(Build.property("it.guest.tool"), "run"));
    words.addAll(options);
    words.addAll(List.of("--name", name, "--output", output.toString(), "--"));
    words.addAll(List.of(command));
    return RunningGuest.start(
        Build.property("it.guest.tool"), name, nodes, output, words, environment);
  }
}
