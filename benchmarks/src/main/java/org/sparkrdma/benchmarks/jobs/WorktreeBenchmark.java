// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.cluster.LiveProcesses;
import org.sparkrdma.launch.MisuseException;
import org.sparkrdma.launch.RunDirectory;

/**
 * Builds and runs commits in git work trees of their own, below one directory, by the commits' own
 * scripts. Changes of the user's work tree that are not committed thus have no effect.
 *
 * <p>Confined to the main thread, but {@link #close} may run on a shutdown hook at any time: it
 * ends the processes and deletes the directory. A second close does nothing.
 */
final class WorktreeBenchmark {
  private static final List<String> BUILD =
      List.of(
          "./mvnw", "-B", "-ntp", "-Pquick", "-DskipTests", "-pl", "benchmarks", "-am", "package");

  /** Variables by which a hook of git names another repository to its children. */
  private static final List<String> VARIABLES =
      List.of("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX");

  private final Path project;
  private final Path directory;
  private final List<String> options;
  private final LiveProcesses processes = new LiveProcesses();
  private final Map<String, Path> worktrees = new HashMap<>();
  private int runs;

  /**
   * @param project a directory of the git repository, of which only the list of work trees changes
   * @param directory exists, and belongs to this object
   * @param options job and options of {@code ./bench}
   */
  WorktreeBenchmark(Path project, Path directory, List<String> options) {
    this.project = project;
    this.directory = directory;
    this.options = options;
  }

  /**
   * The commit of this name.
   *
   * @throws MisuseException if there is none or if the project is in no repository
   */
  static Commit commit(Path project, String name)
      throws IOException, InterruptedException, LaunchException {
    Outcome outcome =
        git(project, "log", "-1", "--format=%H %s", "--end-of-options", name + "^{commit}", "--");
    String[] fields = outcome.output().strip().split(" ", 2);
    if (outcome.exitCode() != 0 || fields.length != 2) {
      throw new MisuseException("git knows no commit '%s' in %s".formatted(name, project));
    }
    return new Commit(name, fields[0], fields[1]);
  }

  /** Builds the commit; once if it is both. */
  void build(Commit commit) throws LaunchException, IOException, InterruptedException {
    if (worktrees.containsKey(commit.hash())) {
      return;
    }
    Path worktree = directory.resolve("commit-" + worktrees.size());
    Outcome outcome =
        git(project, "worktree", "add", "--quiet", "--detach", worktree.toString(), commit.hash());
    if (outcome.exitCode() != 0) {
      throw new LaunchException(
          "git cannot check out %s: %s"
              .formatted(commit, outcome.output().strip().replace("\n", "; ")));
    }
    worktrees.put(commit.hash(), worktree);
    run("the build of " + commit, worktree, BUILD);
  }

  /** Runs the benchmark once and returns its ratios. */
  Map<MeasuredRatio, MeasuredRatio.Values> run(Commit commit)
      throws LaunchException, IOException, InterruptedException {
    Path worktree = worktrees.get(commit.hash());
    Path report = directory.resolve("report-%d.json".formatted(++runs));
    List<String> command = new ArrayList<>(List.of("./bench"));
    command.addAll(options);
    command.addAll(List.of("--report", report.toString()));
    command.addAll(List.of("--work-dir", directory.resolve("work").toString()));
    run("the benchmark of " + commit, worktree, command);
    return MeasuredRatio.of(new ObjectMapper().readTree(report.toFile()));
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
    Process process = processes.start(builder);
    int exitCode;
    try {
      exitCode = process.waitFor();
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

  void close() throws LaunchException, IOException, InterruptedException {
    processes.close();
    RunDirectory.deleteTree(directory);
    git(project, "worktree", "prune");
  }

  private record Outcome(int exitCode, String output) {}

  private static Outcome git(Path project, String... arguments)
      throws IOException, InterruptedException, LaunchException {
    List<String> command = new ArrayList<>(List.of("git", "-C", project.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().keySet().removeAll(VARIABLES);
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new LaunchException("git does not run: install it (" + e.getMessage() + ")");
    }
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Outcome(process.waitFor(), output);
  }

  /**
   * A commit of this project.
   *
   * @param name as the user gave it
   * @param hash all digits
   * @param subject first line of its message
   */
  record Commit(String name, String hash, String subject) {
    private static final int SHORT_HASH = 10;

    @Override
    public String toString() {
      return hash.substring(0, SHORT_HASH) + " " + subject;
    }
  }
}
