// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/** Reasons why the engine cannot run. */
class DisniProviderTest {
  @Test
  void shouldReportThatTheLibraryIsMissing() {
    assumeNoLibrary();
    for (int attempt = 0; attempt < 2; attempt++) {
      // The second attempt to load a library fails with another class of error.
      Verbs.Choice choice = Verbs.choose(DisniProvider.NAME, EngineSettings.none());
      assertThat(choice.engine()).isNull();
      assertThat(choice.reasons())
          .singleElement()
          .asString()
          .startsWith("disni: libdisni of DiSNI 2.1 cannot be loaded: ")
          .contains("no disni in java.library.path")
          .doesNotContain("\n");
    }
  }

  @Test
  void shouldTakeNoPartInTheAutomaticChoice() {
    Verbs.Choice choice = Verbs.choose("auto", EngineSettings.none());
    if (choice.engine() != null) {
      choice.engine().close();
    }
    assertThat(choice.reasons()).noneMatch(reason -> reason.startsWith("disni"));
  }

  @Test
  void shouldReportThatTheJarIsMissing() throws Exception {
    try (var loader =
        new URLClassLoader(classPathWithoutDisni(), ClassLoader.getPlatformClassLoader())) {
      assertThatThrownBy(() -> loader.loadClass("com.ibm.disni.verbs.RdmaProvider"))
          .isInstanceOf(ClassNotFoundException.class);
      assertThat(reasons(loader))
          .singleElement()
          .asString()
          .startsWith("disni: DiSNI's jar is not on the class path");
    }
  }

  @Test
  void shouldReportALibraryThatDoesNotFitTheJar() {
    assertThatThrownBy(() -> DisniProvider.checkLibrary(OldLibrary.class))
        .isInstanceOf(EngineUnavailableException.class)
        .hasMessageContaining("jverbs outdated, version found 30, version required 31");
  }

  /** Stands for DiSNI's provider, which compares the version of the library with its own. */
  static final class OldLibrary {
    private OldLibrary() {}

    public static Object provider() throws IOException {
      requireVersion(30);
      return "provider";
    }

    private static void requireVersion(int found) throws IOException {
      if (found != 31) {
        throw new IOException("jverbs outdated, version found " + found + ", version required 31");
      }
    }
  }

  @Test
  void shouldReportThatTheFlagIsMissing() {
    assertThatThrownBy(
            () ->
                DisniProvider.checkFlag(
                    ModuleLayer.boot().findModule("java.logging").orElseThrow()))
        .isInstanceOf(EngineUnavailableException.class)
        .hasMessageContaining("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
  }

  /** The engine's reasons, from the classes of that loader. */
  private static List<?> reasons(ClassLoader loader) throws ReflectiveOperationException {
    Class<?> settings = loader.loadClass(EngineSettings.class.getName());
    Object choice =
        loader
            .loadClass(Verbs.class.getName())
            .getMethod("choose", String.class, settings)
            .invoke(null, DisniProvider.NAME, settings.getMethod("none").invoke(null));
    return (List<?>) choice.getClass().getMethod("reasons").invoke(choice);
  }

  private static URL[] classPathWithoutDisni() throws MalformedURLException {
    List<URL> urls = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (!Path.of(entry).getFileName().toString().startsWith("disni-")) {
        urls.add(Path.of(entry).toUri().toURL());
      }
    }
    return urls.toArray(URL[]::new);
  }

  private static void assumeNoLibrary() {
    for (String directory : System.getProperty("java.library.path").split(File.pathSeparator, -1)) {
      assumeFalse(
          Files.exists(Path.of(directory, System.mapLibraryName("disni"))),
          "libdisni is installed here");
    }
  }
}
