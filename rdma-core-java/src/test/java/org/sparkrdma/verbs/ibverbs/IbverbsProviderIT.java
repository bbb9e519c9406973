// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.ibverbs.ffi.JffiLibrary;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/** The provider of the packaged jar. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class IbverbsProviderIT {
  private static VerbsProvider provider() {
    return Verbs.providers().stream()
        .filter(provider -> provider.name().equals("ibverbs"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void shouldBeFirstInTheAutomaticChoice() {
    assertThat(Verbs.providers().stream().filter(each -> each.order() >= 0).findFirst())
        .get()
        .extracting(VerbsProvider::name)
        .isEqualTo("ibverbs");
  }

  @Test
  void shouldReportInOneSentenceWhyItIsNotUsed() {
    assumeFalse(Files.isDirectory(Path.of("/sys/class/infiniband")), "this machine has devices");

    Verbs.Choice choice = Verbs.choose("ibverbs", EngineSettings.none());

    assertThat(choice.engine()).isNull();
    assertThat(choice.reasons()).hasSize(1);
    assertThat(choice.reasons().get(0)).startsWith("ibverbs: ").contains("no RDMA device");
  }

  @Test
  void shouldReportThatTheJvmForbidsNativeAccess() throws Exception {
    assumeTrue(Runtime.version().feature() >= 24, "this Java cannot forbid native access");
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--illegal-native-access=deny",
                "-cp",
                System.getProperty("java.class.path"),
                Reasons.class.getName())
            .redirectErrorStream(true)
            .start();

    String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(output).contains("--enable-native-access=ALL-UNNAMED");
  }

  /** Prints the reasons why the engine cannot run. */
  static final class Reasons {
    private Reasons() {}

    public static void main(String[] arguments) {
      try {
        JffiLibrary.check();
      } catch (EngineUnavailableException e) {
        System.out.println(e.getMessage());
      }
    }
  }
}
