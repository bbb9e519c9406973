// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.VerbsProvider;

class ShuffleSettingsTest {
  private static final String P = ShuffleSetting.PREFIX;

  @ParameterizedTest
  @EnumSource
  void shouldIgnoreSpacesAndCaseOfEveryKeyAndRefuseAnEmptyValue(ShuffleSetting setting) {
    String text = setting.defaultText();
    assertThat(setting.parse("\t" + text.toUpperCase(Locale.ROOT) + " "))
        .isEqualTo(setting.parse(text));
    assertThatThrownBy(() -> setting.parse(" ")).hasMessageContaining("key=" + setting.key());
  }

  @Test
  void shouldLetLeasesLastLongerThanRequests() {
    assertThat(of(Map.of()).serve().lease()).isEqualTo(Duration.ofSeconds(90));
    assertThat(of(Map.of(P + "request.timeout", "10ms")).serve().lease())
        .isEqualTo(Duration.ofMillis(2_010));
  }

  @Test
  void shouldWaitForALookUpNoLongerThanForAPeer() {
    assertThat(lookupWait("5s", "1")).hasMillis(500);
    assertThat(lookupWait("10ms", "1")).hasMillis(10);
    assertThat(lookupWait("5s", "100")).hasSeconds(5);
  }

  private static Duration lookupWait(String timeout, String factor) {
    return of(Map.of(P + "connect.timeout", timeout, P + "waits.factor", factor)).lookupWait();
  }

  @Test
  void shouldRoundTheAcknowledgeTimeOutUpToOneThatDevicesHave() {
    assertThat(of(Map.of()).transport().packets())
        .isEqualTo(new PacketSettings(OptionalInt.empty(), 17, 6));
    assertThat(ackTimeout("1ms")).isEqualTo(8);
    assertThat(ackTimeout("536870us")).isEqualTo(17);
    assertThat(ackTimeout("536871us")).isEqualTo(18);
    assertThat(ackTimeout("60s")).isEqualTo(24);
  }

  private static int ackTimeout(String text) {
    return of(Map.of(P + "ack.timeout", text)).transport().packets().ackTimeout();
  }

  @ParameterizedTest
  @CsvSource({
    "pinned.max, 32k, 1m to 16t",
    "pinned.max, 16s, units k",
    "request.timeout, 120, units us",
    "request.timeout, 99999999999999999d, units us",
    "listen.port, 70000, 0 to 65535",
    "tos, 256, from 0 to 255",
    "tos, ef, 'auto, or a whole number'",
    "gid.index, -1, 'auto, or a whole number from 0 to 65535'",
    "verify, yes, 'true, false'",
    "mode, on, 'auto, required, off'",
    "engine, verbs, 'auto, soft'",
    "pinned.max, none, 'auto, or bytes'",
    "pinned.max, '', 1m to 16t",
  })
  void shouldNameKeyValueAndAllowedValues(String name, String value, String allowed) {
    assertThatThrownBy(() -> of(Map.of(P + name, value)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key=" + P + name + " value=" + value + " allowed=")
        .hasMessageContaining(allowed);
  }

  @Test
  void shouldAcceptAFormerKeyOfThePluginWithANote() {
    ShuffleSettings settings =
        ShuffleSettings.of(Map.of("spark.shuffle.rdma.quarantine.max", "60s"));
    assertThat(settings.mistakes()).isEmpty();
    assertThat(settings.notes())
        .singleElement()
        .asString()
        .startsWith("spark.shuffle.rdma.quarantine.max has no effect");
  }

  @Test
  void shouldAcceptEveryEngineOfTheServiceLoader() {
    ShuffleSettings settings =
        ShuffleSettings.of(
            Map.of(P + "engine", "fourth", P + "fourth.latency", "5us"),
            List.of(new OneKeyProvider("soft"), new OneKeyProvider("fourth")));
    assertThat(settings.engine()).isEqualTo("fourth");
    assertThat(settings.engineSettings().values())
        .containsExactly(Map.entry("fourth.latency", "5us"));
  }

  private static ShuffleSettings of(Map<String, String> texts) {
    return ShuffleSettings.of(texts, List.of(new OneKeyProvider("soft")));
  }

  private static final class OneKeyProvider implements VerbsProvider {
    private final String name;
    private final EngineSetting latency;

    OneKeyProvider(String name) {
      this.name = name;
      latency = new EngineSetting(name + ".latency", "0us", "a time", "slower");
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public int order() {
      return -1;
    }

    @Override
    public List<EngineSetting> settings() {
      return List.of(latency);
    }

    @Override
    public void validate(EngineSettings settings) {}

    @Override
    public VerbsEngine load(EngineSettings settings) {
      throw new UnsupportedOperationException("only settings are used");
    }
  }
}
