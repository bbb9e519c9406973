// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.sparkrdma.cluster.ClusterSettings;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.cluster.LiveProcesses;
import org.sparkrdma.cluster.StandaloneCluster;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Runs a command's work on a cluster of its own and deletes the data afterwards. The logs of a
 * failed run stay, and with {@code --keep} everything.
 *
 * <p>Used once, by the main thread. When a signal ends the JVM, a shutdown hook ends the cluster
 * and deletes the data.
 */
public final class ClusterCommand {
  private static final int FAILURE = 1;
  private static final int LOG_LINES = 20;

  private final String name;
  private final ClusterOptions options;
  private final ProgressLog progress;

  /** Set by the shutdown hook: later failures are caused by it and not reported. */
  private volatile boolean ending;

  /** Work of a command on its running cluster. */
  @FunctionalInterface
  public interface Work {
    /** Returns at the end of the work. */
    void run(MeasuringRuns runs) throws LaunchException, IOException, InterruptedException;
  }

  /**
   * @param name name of the script, at the start of its messages
   */
  ClusterCommand(String name, ClusterOptions options) {
    this.name = name;
    this.options = options;
    this.progress = options.progress();
  }

  /** The main class of all scripts: runs the command whose class the first argument names. */
  public static void main(String[] arguments) throws ClassNotFoundException {
    CommandLine command = commandLine(Class.forName(arguments[0]));
    System.exit(command.execute(Arrays.copyOfRange(arguments, 1, arguments.length)));
  }

  /**
   * The command line of a script's command. Each error is one sentence that begins with the name of
   * the command; its synopsis is the command that prints its help.
   */
  public static CommandLine commandLine(Class<?> command) {
    Command script = command.getAnnotation(Command.class);
    return commandLine(script.name(), script.customSynopsis()[0], command);
  }

  /**
   * The same of any command.
   *
   * @param name name at the start of its messages
   * @param help command that prints its help
   * @param command an object or a class
   */
  public static CommandLine commandLine(String name, String help, Object command) {
    return new CommandLine(command)
        .registerConverter(DataSize.class, DataSize::ofOption)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(
            (problem, arguments) -> {
              printError(name, sentence(problem) + " (see " + help + ")");
              return problem.getCommandLine().getCommandSpec().exitCodeOnInvalidInput();
            })
        .setExecutionExceptionHandler(
            (failure, line, parsed) -> {
              printError(
                  name,
                  failure instanceof LaunchException
                      ? failure.getMessage()
                      : "unexpected failure: " + failure);
              return line.getCommandSpec().exitCodeOnExecutionException();
            });
  }

  /** Removes the index of an unmatched argument, which counts arguments of the script too. */
  private static String sentence(ParameterException problem) {
    return problem instanceof UnmatchedArgumentException unmatched && !unmatched.isUnknownOption()
        ? "Unmatched argument: '%s'".formatted(unmatched.getUnmatched().get(0))
        : problem.getMessage();
  }

  /**
   * Starts two Workers, does the work, ends the cluster.
   *
   * @param adjust changes the settings of the cluster
   * @return the exit code; failures have been printed to standard error
   */
  public int run(UnaryOperator<ClusterSettings> adjust, Work work)
      throws IOException, InterruptedException {
    try {
      RunDirectory directory = RunDirectory.create(options.workDirectory());
      try {
        runOnCluster(directory, adjust, work);
      } catch (LaunchException e) {
        return failed(e, directory);
      }
      if (options.keep()) {
        progress.log("data and logs are kept in " + directory.path());
      } else {
        directory.deleteAll();
      }
      return 0;
    } catch (LaunchException e) {
      printError(name, e.getMessage());
      return FAILURE;
    }
  }

  private void runOnCluster(
      RunDirectory directory, UnaryOperator<ClusterSettings> adjust, Work work)
      throws LaunchException, IOException, InterruptedException {
    ClusterSettings settings =
        adjust.apply(
            ClusterSettings.twoWorkers(options.installation().sparkHome(), directory.path()));
    progress.log("starting a Spark cluster: a Master and %d Workers".formatted(settings.workers()));
    try (StandaloneCluster cluster = StandaloneCluster.start(settings)) {
      Thread endHook = new Thread(() -> endEarly(cluster, directory), "end-" + name);
      Runtime.getRuntime().addShutdownHook(endHook);
      try {
        progress.log("cluster is up, its web page is " + cluster.masterUiUrl());
        work.run(new MeasuringRuns(cluster, options.installation(), directory, progress));
      } finally {
        if (!LiveProcesses.tryRemove(endHook)) {
          ending = true;
        }
      }
    }
  }

  /** Shutdown hook for Ctrl-C and other signals: ends all processes and deletes the data. */
  private void endEarly(StandaloneCluster cluster, RunDirectory directory) {
    ending = true;
    System.err.println();
    printError(name, "interrupted: ending the cluster and deleting its data");
    cluster.close();
    try {
      directory.deleteAll();
    } catch (IOException e) {
      printError(name, "cannot delete " + directory.path() + ": " + e.getMessage());
    }
  }

  private int failed(LaunchException failure, RunDirectory directory) throws IOException {
    if (ending) {
      return FAILURE;
    }
    printError(name, failure.getMessage());
    Optional<Path> log = failure.log();
    if (log.isPresent() && Files.exists(log.get())) {
      System.err.println("last lines of " + log.get() + ":");
      lastLines(log.get()).forEach(line -> System.err.println("  " + line));
    }
    directory.deleteData();
    if (directory.hasLogs()) {
      System.err.println("all logs are in " + directory.logs());
    }
    return FAILURE;
  }

  private static void printError(String name, String sentence) {
    System.err.println(name + ": " + sentence);
  }

  /** The last lines of a log of any length. */
  private static Deque<String> lastLines(Path log) throws IOException {
    Deque<String> last = new ArrayDeque<>();
    try (Stream<String> lines = Files.lines(log, StandardCharsets.ISO_8859_1)) {
      lines.forEach(
          line -> {
            last.add(line);
            if (last.size() > LOG_LINES) {
              last.remove();
            }
          });
    }
    return last;
  }
}
