// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.spi.EngineSettings;

class IbverbsSettingsTest {
  @Test
  void shouldUseDefaultsAndGivenValues() {
    assertThat(IbverbsSettings.of(EngineSettings.none()))
        .isEqualTo(new IbverbsSettings(100_000_000));
    assertThat(IbverbsSettings.of(EngineSettings.of(Map.of("ibverbs.flush.timeout", "50ms"))))
        .isEqualTo(new IbverbsSettings(50_000_000));
  }

  @Test
  void shouldRefuseAnUnknownSetting() {
    assertThatThrownBy(() -> IbverbsSettings.of(EngineSettings.of(Map.of("ibverbs.no", "1"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ibverbs.no");
  }
}
