// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Values of settings. */
class EngineSettingsTest {
  private static final EngineSetting DEPTH =
      new EngineSetting("test.depth", "8", "a number", "Controls the depth.");
  private static final EngineSetting SPEED =
      new EngineSetting("test.speed", "1", "a number", "Controls the speed.");

  @Test
  void shouldGiveTheValueOfTheUserOrTheDefault() {
    EngineSettings settings = EngineSettings.of(Map.of("test.depth", "3"));
    assertThat(settings.value(DEPTH)).isEqualTo("3");
    assertThat(settings.value(SPEED)).isEqualTo("1");
    assertThat(EngineSettings.none().value(DEPTH)).isEqualTo("8");
  }

  @Test
  void shouldRefuseAnUnknownKeyOfTheEngineOnly() {
    List<EngineSetting> known = List.of(DEPTH, SPEED);
    EngineSettings.of(Map.of("test.depth", "3", "testing.width", "4", "other.depth", "5"))
        .requireKnown("test", known);
    assertThatThrownBy(
            () -> EngineSettings.of(Map.of("test.width", "4")).requireKnown("test", known))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no such setting: key=test.width allowed=test.depth,test.speed");
  }
}
