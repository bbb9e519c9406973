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
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** A directory of this run's own, for data, shuffle files and logs. */
record RunDirectory(Path path) {
  /** Makes it below {@code workDirectory}, which is made too if it is missing. */
  static RunDirectory create(Path workDirectory) throws QuickstartException {
    try {
      Files.createDirectories(workDirectory);
      Path path = Files.createTempDirectory(workDirectory.toRealPath(), "run-");
      Files.createDirectory(path.resolve("data"));
      return new RunDirectory(path);
    } catch (IOException e) {
      throw new QuickstartException(
          "cannot write to %s (%s): choose another --work-dir"
              .formatted(workDirectory, e.getClass().getSimpleName()));
    }
  }

  Path data() {
    return path.resolve("data");
  }

  Path logs() {
    return path.resolve("logs");
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
  static void deleteTree(Path root) throws IOException {
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
