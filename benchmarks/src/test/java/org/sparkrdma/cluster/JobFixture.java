// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.sparkrdma.cluster.job.ClusterJob;
import org.sparkrdma.cluster.job.JobResult;

/** The jar of {@link ClusterJob}. Stateless. */
public final class JobFixture {
  private JobFixture() {}

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
