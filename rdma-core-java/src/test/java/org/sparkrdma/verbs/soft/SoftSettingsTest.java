// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

class SoftSettingsTest {
  private static SoftSettings of(String key, String value) {
    return SoftSettings.of(EngineSettings.of(Map.of(key, value)));
  }

  @ParameterizedTest
  @CsvSource({
    "soft.directory,relative",
    "soft.latency,5",
    "soft.latency,-1us",
    "soft.latency,11s",
    "soft.latency,5 ms",
    "soft.faults,explode@1",
    "soft.faults,executor=1;explode@1",
    "soft.faults,executor=1;executor=2;hang@1",
    "soft.faults,executor=1;",
    "soft.faults,executor=;hang@1",
    "soft.handshake.timeout,0ms",
    "soft.handshake.timeout,2m",
    "soft.registration.cost,75us",
    "soft.deregistration.cost,'1us,2'"
  })
  void shouldNameKeyValueAndAllowedValues(String key, String value) {
    assertThatThrownBy(() -> of(key, value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key=" + key)
        .hasMessageContaining("value=" + value)
        .hasMessageContaining("allowed=");
  }

  @Test
  void shouldHaveTheFaultsOfAnotherExecutorNowhereElse() {
    EngineSettings sick = EngineSettings.of(Map.of("soft.faults", "executor=1;hang@1+,seed=3"));
    assertThat(SoftSettings.of(sick.inProcess("1")).faults()).isEqualTo("hang@1+,seed=3");
    for (String other : List.of("", "0", "11", "driver")) {
      assertThat(SoftSettings.of(sick.inProcess(other)).faults()).isEmpty();
    }
    assertThat(of("soft.faults", "hang@1").faults()).isEqualTo("hang@1");
  }

  @Test
  void shouldChargeACallAndEachPageWhenAsked(@TempDir Path folder) throws Exception {
    Path file = Files.write(folder.resolve("file"), new byte[3 * 4_096]);
    Map<String, String> costs =
        Map.of(
            "soft.registration.cost", "20ms,10ms",
            "soft.deregistration.cost", "1ms, 2ms");
    VerbsEngine engine = new SoftProvider().load(EngineSettings.of(costs));
    try (Device device = engine.open("soft0");
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      long beganNs = System.nanoTime();
      MemoryRegion region = domain.registerFile(file, 4_096, 4_097, Set.of(AccessFlag.REMOTE_READ));
      long registeredNs = System.nanoTime();
      region.close();
      assertThat(registeredNs - beganNs).isGreaterThanOrEqualTo(40_000_000);
      assertThat(System.nanoTime() - registeredNs).isGreaterThanOrEqualTo(5_000_000);
    }
    assertThat(of("soft.latency", "0us").registration().isNothing()).isTrue();
  }

  @Test
  void shouldBeUsedOnlyWhenNamed() {
    assertThat(new SoftProvider().order()).isNegative();
    assertThat(Verbs.choose("auto", EngineSettings.none()).engine()).isNull();
  }

  @Test
  void shouldReportWhyItCannotRun() {
    var settings = EngineSettings.of(Map.of("soft.directory", "/no/such/directory"));
    assertThatThrownBy(() -> new SoftProvider().load(settings))
        .isInstanceOf(EngineUnavailableException.class)
        .hasMessageContaining("soft.directory")
        .hasMessageContaining("/no/such/directory");
  }
}
