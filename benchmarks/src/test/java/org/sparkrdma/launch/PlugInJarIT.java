// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;

/** Content of the plug-in's jar as users get it. */
class PlugInJarIT {
  /** Endings of native libraries on the platforms that jffi supports. */
  private static final String NATIVE = ".*\\.(so|a|dll|dylib|jnilib)(\\..*)?";

  private static final String NESTED = ".*\\.jar";

  /** jffi's library looks for its classes by their names, so they cannot be renamed. */
  private static final String OWN =
      "(META-INF/versions/22/)?(org/(apache/spark/shuffle/rdma|sparkrdma)|com/kenai/jffi)/.*";

  @Test
  void shouldBundleTheNativeLibrariesOfTwoPlatformsOnly() throws Exception {
    Path jar = new Installation(Path.of("..")).plugIn();
    try (JarFile opened = new JarFile(jar.toFile())) {
      assertThat(
              opened.stream()
                  .filter(entry -> !entry.isDirectory())
                  .map(ZipEntry::getName)
                  .filter(name -> name.startsWith("jni/") || name.matches(NATIVE)))
          .containsExactlyInAnyOrder(
              "jni/x86_64-Linux/libjffi-1.2.so", "jni/aarch64-Linux/libjffi-1.2.so");
    }
  }

  @Test
  void shouldBringNoClassesThatCouldHideThoseOfSparkOrOfAJob() throws Exception {
    Path jar = new Installation(Path.of("..")).plugIn();
    try (JarFile opened = new JarFile(jar.toFile())) {
      assertThat(opened.stream().map(ZipEntry::getName).filter(name -> name.endsWith(".class")))
          .isNotEmpty()
          .allMatch(name -> name.matches(OWN), "of this project, or of jffi");
    }
  }

  @Test
  void shouldBringTheLibrariesOfTheCommandsInOneNestedJar() throws Exception {
    Path jar = new Installation(Path.of("..")).plugIn();
    try (JarFile opened = new JarFile(jar.toFile())) {
      assertThat(opened.stream().map(ZipEntry::getName).filter(name -> name.matches(NESTED)))
          .containsExactly("META-INF/tools/command-libraries.jar");
      List<String> names = new ArrayList<>();
      ZipEntry nested = opened.getEntry("META-INF/tools/command-libraries.jar");
      try (ZipInputStream libraries = new ZipInputStream(opened.getInputStream(nested))) {
        for (ZipEntry e = libraries.getNextEntry(); e != null; e = libraries.getNextEntry()) {
          names.add(e.getName());
        }
      }
      assertThat(names)
          .contains("org/slf4j/LoggerFactory.class", "picocli/CommandLine.class")
          .doesNotHaveDuplicates();
    }
  }
}
