// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.Verbs;
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
    "soft.handshake.timeout,0ms",
    "soft.handshake.timeout,2m"
  })
  void shouldNameKeyValueAndAllowedValues(String key, String value) {
    assertThatThrownBy(() -> of(key, value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key=" + key)
        .hasMessageContaining("value=" + value)
        .hasMessageContaining("allowed=");
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
