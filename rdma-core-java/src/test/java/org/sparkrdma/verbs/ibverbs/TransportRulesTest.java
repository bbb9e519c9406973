// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.verbs.device.Capability;

class TransportRulesTest {
  @ParameterizedTest
  @EnumSource
  void shouldLetThreadsPostUnlessALibraryLeavesOutItsLocks(TransportRules rules) {
    assertThat(rules.capabilities(Map.of("MLX5_SHUT_UP_BF", "1")))
        .contains(Capability.POST_BESIDE_POLL);
    for (String variable : Capability.SINGLE_THREADED) {
      assertThat(rules.capabilities(Map.of(variable, "1")))
          .doesNotContain(Capability.POST_BESIDE_POLL);
    }
  }
}
