// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A Spark home with links to the jars of the build's Spark home, and to more jars. Closed by its
 * creator, which deletes the links: JUnit warns when a temporary directory has links to other ones.
 */
final class LinkedSparkHome implements AutoCloseable {
  private final Path path;

  private LinkedSparkHome(Path path) {
    this.path = path;
  }

  /**
   * Creates it.
   *
   * @param path of the new folder
   * @param more jars that the build's Spark home lacks
   */
  static LinkedSparkHome create(Path path, List<Path> more) throws IOException {
    Path jars = Files.createDirectories(path.resolve("jars"));
    try (DirectoryStream<Path> originals =
        Files.newDirectoryStream(SparkSubmit.installation().sparkHome().resolve("jars"))) {
      for (Path jar : originals) {
        link(jars, jar);
      }
    }
    for (Path jar : more) {
      link(jars, jar);
    }
    return new LinkedSparkHome(path);
  }

  private static void link(Path jars, Path jar) throws IOException {
    Files.createSymbolicLink(jars.resolve(jar.getFileName()), jar);
  }

  Path path() {
    return path;
  }

  @Override
  public void close() {
    try (DirectoryStream<Path> links = Files.newDirectoryStream(path.resolve("jars"))) {
      for (Path link : links) {
        Files.delete(link);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
