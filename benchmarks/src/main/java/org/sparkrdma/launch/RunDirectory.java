// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** A directory of this run's own, for data, shuffle files and logs. */
public record RunDirectory(Path path) {
  /** Makes it below {@code workDirectory}, which is made too if it is missing. */
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

  /** For what the work itself writes. */
  public Path data() {
    return path.resolve("data");
  }

  Path logs() {
    return path.resolve("logs");
  }

  /** Refuses to go on when the disk has less room than needed. */
  void requireRoom(DataSize needed) throws IOException, LaunchException {
    DataSize usable = new DataSize(Files.getFileStore(path).getUsableSpace());
    if (usable.bytes() < needed.bytes()) {
      throw new LaunchException(
          ("not enough room in %s: this size needs %s and %s are free; choose a smaller one or"
                  + " another --work-dir")
              .formatted(path, needed, usable));
    }
  }

  /** Deletes all but the logs, and those too if nothing has been logged yet. */
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

  /** Deletes a directory with what is in it; a no-op if it does not exist. */
  public static void deleteTree(Path root) throws IOException {
    if (!Files.exists(root)) {
      return;
    }
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, IOException failure)
              throws IOException {
            if (failure != null) {
              throw failure;
            }
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
