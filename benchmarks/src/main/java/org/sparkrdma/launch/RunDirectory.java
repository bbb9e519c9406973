// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.commons.io.FileUtils;
import org.sparkrdma.cluster.LaunchException;

/** The directory of one run, for data, shuffle files and logs. */
public record RunDirectory(Path path) {
  /** Creates it below {@code workDirectory}, which is created too if it is missing. */
  static RunDirectory create(Path workDirectory) throws LaunchException {
    try {
      Files.createDirectories(workDirectory);
      Path path = Files.createTempDirectory(workDirectory.toRealPath(), "run-");
      Files.createDirectory(path.resolve("data"));
      return new RunDirectory(path);
    } catch (IOException e) {
      throw new LaunchException(
          "cannot write to %s (%s): choose another --work-dir"
              .formatted(workDirectory, e.getClass().getSimpleName()));
    }
  }

  /** Directory for files that the command writes. */
  public Path data() {
    return path.resolve("data");
  }

  Path logs() {
    return path.resolve("logs");
  }

  /** Deletes all but the logs; deletes the directory if there are no logs. */
  void deleteData() throws IOException {
    deleteTree(data());
    deleteTree(path.resolve("shuffle"));
    if (!hasLogs()) {
      deleteAll();
    }
  }

  boolean hasLogs() {
    return Files.exists(logs());
  }

  void deleteAll() throws IOException {
    deleteTree(path);
  }

  /** Deletes a directory and its content; does nothing if it does not exist. */
  public static void deleteTree(Path root) throws IOException {
    FileUtils.deleteDirectory(root.toFile());
  }
}
