// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.jobs.GitRepository.Commit;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.cluster.LiveProcesses;
import org.sparkrdma.launch.RunDirectory;

/**
 * Builds and runs commits in git work trees of their own, below one directory, by the commits' own
 * scripts. Changes of the user's work tree that are not committed thus have no effect.
 *
 * <p>Confined to the main thread, but {@link #close} may run on a shutdown hook at any time: it
 * ends the processes and deletes the directory. A second close does nothing.
 */
final class WorktreeBenchmark implements AutoCloseable {
  private static final List<String> BUILD =
      List.of(
          "./mvnw", "-B", "-ntp", "-Pquick", "-DskipTests", "-pl", "benchmarks", "-am", "package");

  /** In the script of a commit with {@code ./bench latency}. */
  private static final String LATENCY_COMMAND = "\n  latency ";

  /** In the script of a commit with {@code ./bench transfer --latency}. */
  private static final String LATENCY_OPTION = "\n  --latency  ";

  private final GitRepository repository;
  private final Path directory;
  private final List<String> options;
  private final LiveProcesses processes = new LiveProcesses();
  private final Map<String, Path> worktrees = new HashMap<>();
  private int runs;

  /**
   * @param directory exists, and belongs to this object
   * @param options job and options of {@code ./bench}
   */
  WorktreeBenchmark(GitRepository repository, Path directory, List<String> options) {
    this.repository = repository;
    this.directory = directory;
    this.options = options;
  }

  /** Builds the commit; once if it is both. */
  void build(Commit commit) throws LaunchException, IOException, InterruptedException {
    if (worktrees.containsKey(commit.hash())) {
      return;
    }
    Path worktree = directory.resolve("commit-" + worktrees.size());
    repository.addWorktree(worktree, commit);
    worktrees.put(commit.hash(), worktree);
    run("the build of " + commit, worktree, BUILD);
  }

  /** Runs the benchmark once and returns its ratios. */
  List<MeasuredRatio> run(Commit commit) throws LaunchException, IOException, InterruptedException {
    Path worktree = worktrees.get(commit.hash());
    Path report = directory.resolve("report-%d.json".formatted(++runs));
    List<String> command = new ArrayList<>(List.of("./bench"));
    command.addAll(options(commit, worktree));
    command.addAll(List.of("--report", report.toString()));
    command.addAll(List.of("--work-dir", directory.resolve("work").toString()));
    run("the benchmark of " + commit, worktree, command);
    return MeasuredRatio.of(new ObjectMapper().readTree(report.toFile()));
  }

  /**
   * The options as the commit's own script knows them: latency was a command of its own once, and
   * still older commits do not measure it.
   */
  private List<String> options(Commit commit, Path worktree) throws LaunchException, IOException {
    if (!options.get(0).equals(RegressCommand.LATENCY)) {
      return options;
    }
    String script = Files.readString(worktree.resolve("bench"));
    if (script.contains(LATENCY_COMMAND)) {
      return options;
    }
    if (!script.contains(LATENCY_OPTION)) {
      throw new LaunchException(commit + " cannot measure latency: choose a newer commit");
    }
    List<String> renamed = new ArrayList<>(List.of("transfer", "--latency"));
    renamed.addAll(options.subList(1, options.size()));
    return renamed;
  }

  /** Runs a command to its end, in a work tree. Its output goes to a file, kept if it fails. */
  private void run(String what, Path worktree, List<String> command)
      throws LaunchException, IOException, InterruptedException {
    Path output = directory.resolve("output.log");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(worktree.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    LiveProcesses.ClusterProcess process = processes.start(builder, output);
    int exitCode;
    try {
      exitCode = process.process().waitFor();
    } finally {
      processes.end(process);
    }
    if (exitCode != 0) {
      Path kept = directory.resolveSibling("regress-failed.log");
      Files.move(output, kept, StandardCopyOption.REPLACE_EXISTING);
      throw new LaunchException(
          "%s failed with exit code %d: its output is in %s".formatted(what, exitCode, kept));
    }
  }

  @Override
  public void close() throws IOException {
    processes.close();
    RunDirectory.deleteTree(directory);
    try {
      repository.pruneWorktrees();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (LaunchException e) {
      throw new IOException(e);
    }
  }
}
