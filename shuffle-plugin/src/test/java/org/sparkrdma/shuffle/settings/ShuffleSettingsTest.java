// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.VerbsProvider;

class ShuffleSettingsTest {
  private static final String P = ShuffleSetting.PREFIX;

  @ParameterizedTest
  @EnumSource
  void shouldAcceptItsOwnDefault(ShuffleSetting setting) {
    assertThat(setting.parse(setting.defaultText())).isNotNull();
  }

  @ParameterizedTest
  @EnumSource
  void shouldIgnoreSpacesAndCaseOfEveryKeyAndRefuseAnEmptyValue(ShuffleSetting setting) {
    String text = setting.defaultText();
    assertThat(setting.parse("\t" + text.toUpperCase(Locale.ROOT) + " "))
        .isEqualTo(setting.parse(text));
    assertThatThrownBy(() -> setting.parse(" ")).hasMessageContaining("key=" + setting.key());
  }

  @Test
  void shouldIgnoreSpacesOfModesAndEngines() {
    ShuffleSettings settings =
        of(Map.of(P + "broadcast.mode", "Tcp ", P + "mode", " OFF", P + "soft.latency", "5us "));
    assertThat(settings.broadcastMode()).isEqualTo("tcp");
    assertThat(settings.mode()).isEqualTo(ShuffleSettings.Mode.OFF);
    assertThat(settings.engineSettings().values()).containsEntry("soft.latency", "5us");
  }

  @Test
  void shouldAcceptUnits() {
    ShuffleSettings settings = of(Map.of(P + "request.timeout", "2min", P + "pinned.max", "32M"));
    assertThat(settings.pinnedMaxBytes()).hasValue(32L << 20);
    assertThat(settings.transport(1 << 30).requestTimeout()).isEqualTo(Duration.ofMinutes(2));
  }

  @Test
  void shouldDeriveThePoolFromThePinnedLimit() {
    assertThat(of(Map.of()).transport(1 << 30).poolBytes()).isEqualTo(1 << 29);
    assertThat(of(Map.of(P + "pool.max", "64m")).transport(1 << 30).poolBytes())
        .isEqualTo(64 << 20);
    assertThat(of(Map.of(P + "pool.max", "2g")).transport(1 << 30).poolBytes()).isEqualTo(1 << 30);
  }

  @ParameterizedTest
  @CsvSource({
    "pool.max, 8m, 1048576, 262144",
    "pool.max, 64k, 1048576, 32768",
    "reads.bytes.max, 8k, 1073741824, 4096",
    "reads.bytes.max, 300k, 1073741824, 131072",
    "tos, 4, 1073741824, 262144",
    "tos, 4, 1048576, 262144",
  })
  void shouldCutChunksThatDoNotFit(String name, String value, long pinnedBytes, int expected) {
    assertThat(of(Map.of(P + name, value)).transport(pinnedBytes).chunkBytes()).isEqualTo(expected);
  }

  @Test
  void shouldLetLeasesLastLongerThanRequests() {
    assertThat(of(Map.of()).serve().lease()).isEqualTo(Duration.ofSeconds(90));
    assertThat(of(Map.of(P + "request.timeout", "10ms")).serve().lease())
        .isEqualTo(Duration.ofMillis(2_010));
  }

  @Test
  void shouldDeriveTheFirstQuarantineFromTheLongest() {
    assertThat(of(Map.of()).transport(1 << 30).quarantine()).isEqualTo(Duration.ofSeconds(1));
    assertThat(of(Map.of(P + "quarantine.max", "100ms")).transport(1 << 30).quarantine())
        .isEqualTo(Duration.ofMillis(50));
  }

  @Test
  void shouldRoundTheAcknowledgeTimeOutUpToOneThatDevicesHave() {
    assertThat(of(Map.of()).transport(1 << 30).packets())
        .isEqualTo(new PacketSettings(OptionalInt.empty(), 17, 6));
    assertThat(ackTimeout("1ms")).isEqualTo(8);
    assertThat(ackTimeout("536870us")).isEqualTo(17);
    assertThat(ackTimeout("536871us")).isEqualTo(18);
    assertThat(ackTimeout("60s")).isEqualTo(24);
  }

  private static int ackTimeout(String text) {
    return of(Map.of(P + "ack.timeout", text)).transport(1 << 30).packets().ackTimeout();
  }

  @ParameterizedTest
  @CsvSource({
    "pinned.max, 32k, 1m to 16t",
    "pinned.max, 16s, units k",
    "pinned.max, -16m, 1m to 16t",
    "request.timeout, 120, units us",
    "request.timeout, 5m m, units us",
    "request.timeout, 99999999999999999d, units us",
    "listen.port, 70000, 0 to 65535",
    "tos, 256, from 0 to 255",
    "tos, -1, from 0 to 255",
    "tos, ef, 'auto, or a whole number'",
    "ack.timeout, 17, units us",
    "ack.timeout, 2min, 1ms to 60s",
    "listen.port, eighty, 0 to 65535",
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
  void shouldNameAllMistakesAtOnce() {
    Map<String, String> texts =
        Map.of(
            P + "connections.max", "many",
            P + "mode", "sometimes",
            P + "pined.max", "1g",
            P + "soft.latency", "bad");
    assertThatThrownBy(() -> of(texts))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .satisfies(
            message ->
                assertThat(message.split("; "))
                    .hasSize(4)
                    .anyMatch(part -> part.contains("key=" + P + "connections.max value=many"))
                    .anyMatch(part -> part.contains("key=" + P + "mode value=sometimes"))
                    .anyMatch(
                        part ->
                            part.contains(
                                "unknown setting: key=" + P + "pined.max value=1g allowed="))
                    .anyMatch(part -> part.contains("key=soft.latency value=bad")));
  }

  @Test
  void shouldReportSparkRdmaKeysInsteadOfRefusingThem() {
    FormerSettings.all()
        .forEach(
            (name, replacement) ->
                assertThat(of(Map.of(P + name, "whatever")).notes())
                    .singleElement()
                    .asString()
                    .contains(P + name, replacement));
  }

  @Test
  void shouldOnlyNameExistingKeysAsReplacements() {
    List<String> keys = List.of(ShuffleSetting.values()).stream().map(ShuffleSetting::key).toList();
    String start = "replaced by " + P;
    assertThat(FormerSettings.all().values())
        .filteredOn(text -> text.startsWith(start))
        .allSatisfy(text -> assertThat(keys).contains(text.substring("replaced by ".length())));
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

  @ParameterizedTest
  @ValueSource(strings = {"auto", "ibverbs", "disni", "soft"})
  void shouldFindItsOwnEnginesOnEveryJava(String engine) {
    SparkConf conf = new SparkConf(false).set(P + "engine", engine);
    assertThat(ShuffleSettings.of(conf).engine()).isEqualTo(engine);
  }

  @Test
  void shouldReadOnlyItsOwnKeysFromSpark() {
    SparkConf conf =
        new SparkConf(false).set("spark.shuffle.rdmaX", "1").set(P + "listen.port", "4711");
    assertThat(ShuffleSettings.of(conf).transport(1 << 30).listenPort()).isEqualTo(4_711);
  }

  @Test
  void shouldReadTheSelectedDevice() {
    Map<String, String> texts =
        Map.of(
            P + "device", "mlx5_0, mlx5_1",
            P + "gid.index", "3",
            P + "listen.address", "10.0.0.0/8",
            P + "rails.routed", "true",
            P + "fabric.trusted", "true");

    assertThat(of(texts).device(InetAddress.getLoopbackAddress(), 3))
        .isEqualTo(
            new DeviceSelector(
                List.of("mlx5_0", "mlx5_1"),
                OptionalInt.of(3),
                Optional.of("10.0.0.0/8"),
                InetAddress.getLoopbackAddress(),
                true,
                true,
                3));
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
    public void validate(EngineSettings settings) {
      if (settings.value(latency).equals("bad")) {
        throw new IllegalArgumentException("key=soft.latency value=bad");
      }
    }

    @Override
    public VerbsEngine load(EngineSettings settings) {
      throw new UnsupportedOperationException("only settings are used");
    }
  }
}
