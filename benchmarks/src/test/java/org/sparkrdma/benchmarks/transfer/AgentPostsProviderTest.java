// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.spi.EngineSettings;

class AgentPostsProviderTest {
  @Test
  void shouldLackOnlyPostsOfOtherThreads() throws Exception {
    Verbs.Choice choice = Verbs.choose(AgentPostsProvider.NAME, EngineSettings.none());
    try (VerbsEngine engine = choice.engine();
        Device device = engine.open(engine.devices().get(0))) {
      assertThat(device.info()).isEqualTo(engine.devices().get(0));
      assertThat(device.info().can(Capability.POST_BESIDE_POLL)).isFalse();
      assertThat(device.info().can(Capability.FILE_REGIONS)).isTrue();
      device.allocate(1).close();
    }
  }
}
