// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.cluster.LaunchException;

/**
 * The git repository of a project. Only its list of work trees is changed.
 *
 * @param project a directory of the repository
 */
public record GitRepository(Path project) {
  /** Variables by which a hook of git names another repository to its children. */
  private static final List<String> VARIABLES =
      List.of("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX");

  private record Outcome(int exitCode, String output) {}

  /** The commit of this name; empty if there is none or if the project is in no repository. */
  public Optional<Commit> commit(String name)
      throws IOException, InterruptedException, LaunchException {
    Outcome outcome =
        git("log", "-1", "--format=%H %s", "--end-of-options", name + "^{commit}", "--");
    String[] fields = outcome.output().strip().split(" ", 2);
    return outcome.exitCode() == 0 && fields.length == 2
        ? Optional.of(new Commit(name, fields[0], fields[1]))
        : Optional.empty();
  }

  /** Checks the commit out into a new directory, without a branch. */
  public void addWorktree(Path directory, Commit commit)
      throws IOException, InterruptedException, LaunchException {
    Outcome outcome =
        git("worktree", "add", "--quiet", "--detach", directory.toString(), commit.hash());
    if (outcome.exitCode() != 0) {
      throw new LaunchException(
          "git cannot check out %s: %s"
              .formatted(commit, outcome.output().strip().replace("\n", "; ")));
    }
  }

  /** Removes the entries of work trees whose directories do not exist any more. */
  public void pruneWorktrees() throws IOException, InterruptedException, LaunchException {
    git("worktree", "prune");
  }

  private Outcome git(String... arguments)
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
  public record Commit(String name, String hash, String subject) {
    private static final int SHORT_HASH = 10;

    @Override
    public String toString() {
      return hash.substring(0, SHORT_HASH) + " " + subject;
    }
  }
}
