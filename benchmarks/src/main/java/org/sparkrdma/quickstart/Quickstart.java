/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.quickstart;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.sparkrdma.benchmarks.tera.GeneratedInput;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.cluster.ClusterSettings;
import org.sparkrdma.cluster.StandaloneCluster;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command behind the {@code quickstart} script: generates records, sorts them once under each
 * shuffle, and compares the runs. What each option means stands in the script's help.
 */
@Command(name = "quickstart")
public final class Quickstart implements Callable<Integer> {
  private static final int FAILURE = 1;
  private static final int LOG_LINES = 20;

  @Option(names = "--size", defaultValue = "1g", converter = DataSize.Converter.class)
  private DataSize size;

  @Option(names = "--modes", split = ",", defaultValue = "vanilla,rdma,fallback")
  private List<ShuffleMode> modes;

  @Option(names = "--report")
  private Path reportFile;

  @Option(names = "--work-dir", required = true)
  private Path workDirectory;

  @Option(names = "--keep")
  private boolean keep;

  @Option(names = "--kill-executor")
  private boolean killExecutor;

  @Option(names = "--port", defaultValue = "0")
  private int port;

  @Option(names = "--ui-port", defaultValue = "0")
  private int uiPort;

  @Option(names = "--project", hidden = true, required = true)
  private Path project;

  @Option(names = "--terminal", hidden = true)
  private boolean terminal;

  /** Set by the shutdown hook: what fails from then on fails because all is being ended. */
  private volatile boolean ending;

  private Quickstart() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Quickstart())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(
            (problem, arguments) -> {
              complain(problem.getMessage() + " (see ./quickstart --help)");
              return problem.getCommandLine().getCommandSpec().exitCodeOnInvalidInput();
            })
        .setExecutionExceptionHandler(
            (failure, command, parsed) -> {
              complain("cannot go on: " + failure);
              return command.getCommandSpec().exitCodeOnExecutionException();
            });
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    ProgressLog progress = new ProgressLog(System.out, terminal, System::nanoTime);
    try {
      if (reportFile != null) {
        // A report that is there at the end is of this run.
        Files.deleteIfExists(reportFile);
      }
      RunDirectory directory = RunDirectory.create(workDirectory);
      try {
        DiskNeed.check(directory.path(), DiskNeed.of(size, modes.size(), keep));
        compare(directory, progress);
      } catch (QuickstartException | ClusterException e) {
        return failed(e, directory);
      }
      if (keep) {
        progress.say("data and logs are kept in " + directory.path());
      } else {
        directory.deleteAll();
      }
      return 0;
    } catch (QuickstartException e) {
      complain(e.getMessage());
      return FAILURE;
    }
  }

  private void compare(RunDirectory directory, ProgressLog progress)
      throws QuickstartException, ClusterException, IOException, InterruptedException {
    progress.say("starting a Spark cluster: a Master and " + TeraRuns.EXECUTORS + " Workers");
    ClusterSettings settings =
        ClusterSettings.twoWorkers(new Installation(project).sparkHome(), directory.path())
            .withPorts(port, uiPort);
    try (StandaloneCluster cluster = StandaloneCluster.start(settings)) {
      Thread endHook = new Thread(() -> endEarly(cluster, directory), "end-quickstart");
      Runtime.getRuntime().addShutdownHook(endHook);
      try {
        progress.say("cluster is up, its web page is " + cluster.masterUiUrl());
        runAll(
            new TeraRuns(
                cluster, new Installation(project), directory, size, progress, killExecutor),
            progress);
      } finally {
        if (!removed(endHook)) {
          ending = true;
        }
      }
    }
  }

  private void runAll(TeraRuns runs, ProgressLog progress)
      throws QuickstartException, ClusterException, IOException, InterruptedException {
    GeneratedInput input = runs.generate();
    progress.say("input: %,d records, checksum %s".formatted(input.records(), input.checksum()));
    List<RunReport> done = new ArrayList<>();
    for (ShuffleMode mode : modes) {
      done.add(RunReport.of(mode, runs.sort(mode), killExecutor));
      if (!keep) {
        runs.deleteOutput(mode);
      }
    }
    Report report = new Report(done);
    if (reportFile != null) {
      report.write(reportFile);
    }
    System.out.println();
    System.out.println(SummaryTable.of(report));
    Optional<String> disagreement = report.disagreement(input);
    if (disagreement.isPresent()) {
      throw new QuickstartException(disagreement.get());
    }
    System.out.println("Every run sorted the input: records and checksums are equal.");
  }

  /** False when the JVM is ending already. */
  private static boolean removed(Thread hook) {
    try {
      return Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return false;
    }
  }

  /** Runs while the JVM ends, by Ctrl-C or a signal: no process and no data stay behind. */
  private void endEarly(StandaloneCluster cluster, RunDirectory directory) {
    ending = true;
    System.err.println();
    complain("interrupted: ending the cluster and deleting its data");
    cluster.close();
    try {
      directory.deleteAll();
    } catch (IOException e) {
      complain("cannot delete " + directory.path() + ": " + e.getMessage());
    }
  }

  private int failed(Exception failure, RunDirectory directory) throws IOException {
    if (ending) {
      return FAILURE;
    }
    complain(failure.getMessage());
    Optional<Path> log =
        failure instanceof ClusterException cluster
            ? cluster.log()
            : ((QuickstartException) failure).log();
    if (log.isPresent() && Files.exists(log.get())) {
      System.err.println("last lines of " + log.get() + ":");
      LogTail.of(log.get(), LOG_LINES).forEach(line -> System.err.println("  " + line));
    }
    directory.deleteData();
    if (directory.hasLogs()) {
      System.err.println("all logs are in " + directory.logs());
    }
    return FAILURE;
  }

  private static void complain(String sentence) {
    System.err.println("quickstart: " + sentence);
  }
}
