// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The lines of ContractMain. */
class SuiteRunTest {
  private final List<String> shown = new ArrayList<>();
  private final SuiteRun run = new SuiteRun(shown::add);

  private void accept(String... lines) {
    List.of(lines).forEach(run::accept);
  }

  @Test
  void shouldKeepTheKindOfAFailureAndNoValue() {
    accept(
        "tests: 2",
        "FAILED  A#Memory.shouldRegister() 7 ms",
        "org.sparkrdma.verbs.VerbsException: ibv_reg_mr failed: errno=12 (Cannot allocate memory) address=192.0.2.7 key=0x1234abcd",
        "\tat org.sparkrdma.verbs.ibverbs.IbverbsDevice.register(IbverbsDevice.java:99)",
        "passed  A#Memory.shouldAllocate() 1 ms");
    assertThat(run.cases().get(0).facts())
        .containsExactly("org.sparkrdma.verbs.VerbsException", "ibv_reg_mr failed", "errno=12");
    assertThat(run.cases().get(1).facts()).isEmpty();
    assertThat(shown).anyMatch(line -> line.contains("key=0x1234abcd"));
  }
}
