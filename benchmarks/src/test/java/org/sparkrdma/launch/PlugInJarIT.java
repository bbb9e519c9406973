// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;

/** Content of the plug-in's jar as users get it. */
class PlugInJarIT {
  /** Endings of native libraries on the platforms that jffi supports. */
  private static final String NATIVE = ".*\\.(so|a|dll|dylib|jnilib)(\\..*)?";

  private static final String NESTED = ".*\\.jar";

  /** Classes of others under a name of this project. */
  private static final String SHADED = "org/sparkrdma/shaded/";

  /** jffi's library looks for its classes by their names, so they cannot be renamed. */
  private static final String OWN = "(org/(apache/spark/shuffle/rdma|sparkrdma)|com/kenai/jffi)/.*";

  @Test
  void shouldBundleTheNativeLibrariesOfTwoPlatformsOnly() throws Exception {
    assertThat(names())
        .filteredOn(name -> name.startsWith("jni/") || name.matches(NATIVE))
        .containsExactlyInAnyOrder(
            "jni/x86_64-Linux/libjffi-1.2.so", "jni/aarch64-Linux/libjffi-1.2.so");
  }

  @Test
  void shouldBringNoClassesThatCouldHideThoseOfSparkOrOfAJob() throws Exception {
    assertThat(names())
        .filteredOn(name -> name.endsWith(".class"))
        .isNotEmpty()
        .allMatch(name -> name.matches(OWN), "of this project, or of jffi");
  }

  @Test
  void shouldBringTheLibrariesOfTheCommandsInOneNestedJar() throws Exception {
    assertThat(names())
        .filteredOn(name -> name.matches(NESTED))
        .containsExactly("META-INF/tools/command-libraries.jar");
    try (JarFile opened = new JarFile(PlugInJar.path().toFile())) {
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

  /**
   * A class too few fails when it is used, in an executor; the jar has no room for one too many.
   */
  @Test
  void shouldBringTheClassesOfHdrHistogramThatRecordingLoadsAndNoOther() throws Exception {
    try (RecordingLoader loader = new RecordingLoader(PlugInJar.path().toUri().toURL())) {
      Class<?> type = loader.loadClass("org.sparkrdma.shuffle.metrics.ShuffleCounters");
      Object latency = type.getMethod("readLatency").invoke(type.getConstructor().newInstance());
      Method percentileUs = latency.getClass().getMethod("percentileUs", double.class);
      Method record = latency.getClass().getMethod("record", long.class);
      assertThat(percentileUs.invoke(latency, 50.0)).isEqualTo(0L);
      for (long us = 1; us <= 1_000; us++) {
        record.invoke(latency, us * 1_000);
      }
      record.invoke(latency, Long.MAX_VALUE);
      record.invoke(latency, -1L);
      assertThat((long) percentileUs.invoke(latency, 50.0)).isBetween(500L, 506L);
      assertThat((long) percentileUs.invoke(latency, 99.0)).isBetween(990L, 1_001L);
      assertThat(names())
          .filteredOn(name -> name.startsWith(SHADED) && name.endsWith(".class"))
          .hasSizeGreaterThan(1)
          .containsExactlyInAnyOrderElementsOf(loader.shaded);
    }
  }

  /** The names of its files. */
  private static List<String> names() throws Exception {
    try (JarFile opened = new JarFile(PlugInJar.path().toFile())) {
      return opened.stream().filter(entry -> !entry.isDirectory()).map(ZipEntry::getName).toList();
    }
  }

  /** Loads classes from the jar only, and keeps the names of the relocated ones. */
  private static final class RecordingLoader extends URLClassLoader {
    private final Set<String> shaded = new TreeSet<>();

    RecordingLoader(URL jar) {
      super(new URL[] {jar}, ClassLoader.getPlatformClassLoader());
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      String entry = name.replace('.', '/') + ".class";
      if (entry.startsWith(SHADED)) {
        shaded.add(entry);
      }
      return super.findClass(name);
    }
  }
}
