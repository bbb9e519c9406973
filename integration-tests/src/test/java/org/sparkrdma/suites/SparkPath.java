// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The class path of Spark's own processes, in the order of Spark's launcher. A JVM uses an archive
 * of classes only if its class path begins with that of the JVM that made the archive. Stateless.
 */
public final class SparkPath {
  private static final String FIRST = "slf4j-api-";

  private SparkPath() {}

  /** The class path for this Spark home. */
  public static String of(Path home) throws IOException {
    Path jars = home.resolve("jars");
    try (Stream<Path> all = Files.list(jars)) {
      Stream<Path> first = all.filter(jar -> jar.getFileName().toString().startsWith(FIRST));
      return Stream.concat(
              Stream.of(home.resolve("conf")), Stream.concat(first, Stream.of(jars.resolve("*"))))
          .map(Path::toString)
          .collect(Collectors.joining(File.pathSeparator));
    }
  }
}
