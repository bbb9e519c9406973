// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.verbs.spi.EngineSettings;

/** Key, default and values of the setting {@code flush.timeout}. */
class FlushTimeoutTest {
  private final FlushTimeout timeout = new FlushTimeout("fake.");

  private long parseNs(String value) {
    return timeout.parseNs(EngineSettings.of(Map.of("fake.flush.timeout", value)));
  }

  @Test
  void shouldHaveTheKeyOfItsEngine() {
    assertThat(timeout.setting().key()).isEqualTo("fake.flush.timeout");
    assertThat(timeout.setting().allowed()).isEqualTo("a time with ms or s, 1ms to 60s");
  }

  @Test
  void shouldBeAHundredMillisecondsByDefault() {
    assertThat(timeout.setting().defaultValue()).isEqualTo("100ms");
    assertThat(timeout.parseNs(EngineSettings.none())).isEqualTo(100_000_000);
  }

  @Test
  void shouldIgnoreTheKeyOfAnotherEngine() {
    var ofOther = EngineSettings.of(Map.of("other.flush.timeout", "2s", "flush.timeout", "3s"));
    assertThat(timeout.parseNs(ofOther)).isEqualTo(100_000_000);
  }

  @ParameterizedTest
  @CsvSource({
    "1ms, 1000000",
    "250ms, 250000000",
    "1s, 1000000000",
    "00002s, 2000000000",
    "60000ms, 60000000000",
    "60s, 60000000000"
  })
  void shouldReadMillisecondsAndSeconds(String value, long expectedNs) {
    assertThat(parseNs(value)).isEqualTo(expectedNs);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0ms", "0s", "60001ms", "61s", "99999s"})
  void shouldRefuseATimeOutsideItsBounds(String value) {
    refuses(value);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "100", "ms", "100 ms", " 1s", "1.5s", "-1s", "1m", "1MS", "100000ms", "1s1s"})
  void shouldRefuseAValueThatIsNoTime(String value) {
    refuses(value);
  }

  private void refuses(String value) {
    assertThatThrownBy(() -> parseNs(value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "bad setting: key=fake.flush.timeout value="
                + value
                + " allowed=a time with ms or s, 1ms to 60s");
  }
}
