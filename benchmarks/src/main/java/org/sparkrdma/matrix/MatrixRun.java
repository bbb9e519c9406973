// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Optional;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.git.Commit;
import org.sparkrdma.launch.git.GitRepository;

/**
 * When, where and with which sources the cells ran.
 *
 * @param date of the end, in UTC, as 2026-11-23
 * @param commit its first digits, with a note where files differed from it
 * @param system operating system and processor architecture
 */
record MatrixRun(String date, String commit, String system) {
  /** Now, on this machine, from this project's directory. */
  static MatrixRun current(Path project) throws IOException, InterruptedException {
    return new MatrixRun(
        LocalDate.now(ZoneOffset.UTC).toString(),
        commit(new GitRepository(project)),
        System.getProperty("os.name") + " " + System.getProperty("os.arch"));
  }

  private static String commit(GitRepository repository) throws IOException, InterruptedException {
    try {
      Optional<Commit> head = repository.commit("HEAD");
      if (head.isEmpty()) {
        return "unknown, in no repository";
      }
      return head.get().shortHash() + (repository.hasChanges() ? " with changed files" : "");
    } catch (LaunchException e) {
      return "unknown, " + e.getMessage();
    }
  }
}
