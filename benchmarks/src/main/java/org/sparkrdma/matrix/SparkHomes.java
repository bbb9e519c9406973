// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.RunDirectory;

/**
 * Spark homes of several versions, assembled from Maven Central at their first use and kept below
 * the project's target directory. Confined to one thread.
 */
public final class SparkHomes {
  private final Installation installation;
  private final ProgressLog progress;

  /**
   * @param installation its Spark home is used if the version fits
   */
  public SparkHomes(Installation installation, ProgressLog progress) {
    this.installation = installation;
    this.progress = progress;
  }

  /**
   * A directory with Spark's jars under {@code jars}.
   *
   * @param version such as 3.5.9
   * @param scala such as 2.12
   */
  public Path home(String version, String scala)
      throws LaunchException, IOException, InterruptedException {
    if (Files.exists(core(installation.sparkHome(), version, scala))) {
      return installation.sparkHome();
    }
    Path homes =
        Files.createDirectories(installation.project().resolve("benchmarks/target/spark-homes"));
    Path home = homes.resolve(version + "-" + scala);
    if (!Files.exists(core(home, version, scala))) {
      progress.log("assembling Spark %s for Scala %s from Maven Central".formatted(version, scala));
      Path part = homes.resolve(home.getFileName() + ".part");
      RunDirectory.deleteTree(part);
      copyJars(version, scala, part.resolve("jars"), homes.resolve(home.getFileName() + ".log"));
      RunDirectory.deleteTree(home);
      Files.move(part, home, StandardCopyOption.ATOMIC_MOVE);
    }
    return home;
  }

  private static Path core(Path home, String version, String scala) {
    return home.resolve("jars/spark-core_%s-%s.jar".formatted(scala, version));
  }

  private void copyJars(String version, String scala, Path jars, Path log)
      throws LaunchException, IOException, InterruptedException {
    Path project = installation.project();
    List<String> command =
        List.of(
            project.resolve("mvnw").toString(),
            "-B",
            "-ntp",
            "-q",
            "-f",
            project.resolve("benchmarks/src/spark-home/pom.xml").toString(),
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            "-Dspark.version=" + version,
            "-Dscala.binary.version=" + scala,
            "-DoutputDirectory=" + jars);
    Process maven =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      if (maven.waitFor() != 0) {
        throw new LaunchException(
            "cannot assemble Spark %s for Scala %s".formatted(version, scala), log);
      }
    } finally {
      maven.destroy();
    }
    Files.delete(log);
  }
}
