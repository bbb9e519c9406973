// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.environment;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarFile;

/** Version and commit of a jar, from the manifest that the build writes. */
final class JarBuild {
  static final Attributes.Name COMMIT = new Attributes.Name("Build-Commit");

  private static final String UNKNOWN = "unknown";

  private JarBuild() {}

  /** Facts of the jar that has this class; "unknown" outside of a jar or without the attributes. */
  static String of(Class<?> type) {
    try {
      var source = type.getProtectionDomain().getCodeSource();
      Path jar = source == null ? null : Path.of(source.getLocation().toURI());
      return jar == null || !Files.isRegularFile(jar) ? UNKNOWN : of(jar);
    } catch (IOException | URISyntaxException | IllegalArgumentException e) {
      return UNKNOWN;
    }
  }

  /** Facts of a jar. */
  static String of(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      if (file.getManifest() == null) {
        return UNKNOWN;
      }
      Attributes attributes = file.getManifest().getMainAttributes();
      String version = attributes.getValue(Attributes.Name.IMPLEMENTATION_VERSION);
      String commit = attributes.getValue(COMMIT);
      return "%s, commit %s"
          .formatted(version == null ? UNKNOWN : version, commit == null ? UNKNOWN : commit);
    }
  }
}
