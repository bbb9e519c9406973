// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.sparkrdma.cluster.job.ClusterJob;
import org.sparkrdma.cluster.job.JobResult;

/**
 * The jar of {@link ClusterJob}, and the answers of its shuffles under Spark's own shuffle.
 *
 * @param directory for the output
 */
public record JobFixture(Path directory, Path jar) {
  /**
   * Creates the jar.
   *
   * @param directory for the jar and the output
   */
  static JobFixture prepare(Path directory) throws Exception {
    return new JobFixture(directory, jar(directory.resolve("job.jar")));
  }

  /** The answer of the job "shuffle". */
  List<String> small() throws Exception {
    return vanillaAnswers("shuffle");
  }

  /** The answer of the job "memory". */
  List<String> large() throws Exception {
    return vanillaAnswers("all").subList(8, 12);
  }

  /** The answer of the jobs that end an executor. */
  List<String> wide() throws Exception {
    return vanillaAnswers("all").subList(12, 52);
  }

  private List<String> vanillaAnswers(String name) throws Exception {
    Path own = Files.createTempDirectory(directory, "vanilla");
    Path answer = own.resolve("result.json");
    SparkSubmit.Outcome outcome =
        SparkSubmit.run(
            own,
            List.of(
                "--master",
                "local[2]",
                "--jars",
                SparkSubmit.installation().plugIn().toString(),
                "--conf",
                "spark.ui.enabled=false",
                "--class",
                ClusterJob.class.getName(),
                jar.toString(),
                name,
                answer.toString()));
    assertThat(outcome.exitCode()).as(outcome.errors()).isZero();
    JobResult result = new ObjectMapper().readValue(answer.toFile(), JobResult.class);
    assertThat(result.counters()).isEmpty();
    return result.answer();
  }

  /** A jar with the application's classes, which are among those of the tests. */
  public static Path jar(Path jar) throws IOException {
    return jar(jar, ClusterJob.class.getPackage(), "*", new Manifest());
  }

  /** A jar with those classes of the tests whose names match a pattern. */
  static Path jar(Path jar, Package of, String pattern, Manifest manifest) throws IOException {
    String folder = of.getName().replace('.', '/');
    Path classes = Path.of("target/test-classes", folder);
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest);
        DirectoryStream<Path> files = Files.newDirectoryStream(classes, pattern + ".class")) {
      for (Path file : files) {
        out.putNextEntry(new ZipEntry(folder + "/" + file.getFileName()));
        Files.copy(file, out);
      }
    }
    return jar;
  }

  /** Asserts that all remote blocks came by READ, and that no task failed. */
  static void assertAllByRead(JobResult result) {
    assertThat(result.counter("rdma.bytes.read"))
        .as("by READ; %s", result.counters())
        .isPositive()
        .isEqualTo(result.remoteBytes());
    assertThat(result.counter("tcp.bytes.read")).isZero();
    assertThat(result.counters())
        .allSatisfy(
            (name, count) -> {
              if (name.startsWith("fallback.")) {
                assertThat(count).as(name).isZero();
              }
            });
    assertThat(result.failedTasks()).isZero();
  }
}
