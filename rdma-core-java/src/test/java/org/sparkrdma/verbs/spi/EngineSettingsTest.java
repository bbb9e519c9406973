// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.VerbsEngine;

/** Values of settings, and the defaults of a provider. */
class EngineSettingsTest {
  private static final EngineSetting DEPTH =
      new EngineSetting("test.depth", "8", "a number", "Controls the depth.");
  private static final EngineSetting SPEED =
      new EngineSetting("test.speed", "1", "a number", "Controls the speed.");

  /** An engine that only has a name. */
  private static final class NamedProvider implements VerbsProvider {
    @Override
    public String name() {
      return "test";
    }

    @Override
    public int order() {
      return -1;
    }

    @Override
    public VerbsEngine load(EngineSettings settings) throws EngineUnavailableException {
      throw new EngineUnavailableException("only its name is used");
    }
  }

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

  @Test
  void shouldHaveNoSettingsUnlessTheProviderNamesThem() {
    VerbsProvider provider = new NamedProvider();
    assertThat(provider.settings()).isEmpty();
    provider.validate(EngineSettings.of(Map.of("other.depth", "3")));
    assertThatThrownBy(() -> provider.validate(EngineSettings.of(Map.of("test.depth", "3"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key=test.depth");
  }
}
