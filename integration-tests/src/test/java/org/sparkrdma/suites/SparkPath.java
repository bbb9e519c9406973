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
 * of classes only if its class path begins with the same files as that of the JVM that made the
 * archive. Stateless.
 *
 * <p>The first jar comes twice, because the wildcard contains it too. With SPARK_TESTING an
 * executor's class path begins with its driver's, from which Spark's launcher
 * (AbstractCommandBuilder) removes entries that are equal strings. So the two have different names
 * here.
 */
public final class SparkPath {
  private static final String FIRST = "slf4j-api-";

  private SparkPath() {}

  /** The class path for this Spark home. */
  public static String of(Path home) throws IOException {
    Path jars = home.resolve("jars");
    try (Stream<Path> all = Files.list(jars)) {
      Stream<Path> first =
          all.map(Path::getFileName)
              .filter(jar -> jar.toString().startsWith(FIRST))
              .map(jars.resolve(".")::resolve);
      return Stream.concat(
              Stream.of(home.resolve("conf")), Stream.concat(first, Stream.of(jars.resolve("*"))))
          .map(Path::toString)
          .collect(Collectors.joining(File.pathSeparator));
    }
  }
}
