/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.spi.EngineSettings;

class IbverbsSettingsTest {
  @Test
  void shouldTakeDefaultsAndWhatIsGiven() {
    assertThat(IbverbsSettings.of(EngineSettings.none()))
        .isEqualTo(new IbverbsSettings(220, 100_000_000));
    assertThat(IbverbsSettings.of(EngineSettings.of(Map.of("ibverbs.inline.max", "0"))))
        .isEqualTo(new IbverbsSettings(0, 100_000_000));
  }

  @Test
  void shouldRefuseASettingThatItDoesNotKnow() {
    assertThatThrownBy(() -> IbverbsSettings.of(EngineSettings.of(Map.of("ibverbs.no", "1"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ibverbs.no");
  }
}
