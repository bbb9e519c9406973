// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.VerbsContract;

/** A small limit of locked memory. Runs in the guest, as an ordinary user with a limit of 8 MiB. */
class MemlockOnRoceV2 extends VerbsContract {
  private static final int OUT_OF_MEMORY = 12;

  @Override
  protected EngineUnderTest engine() {
    return IbverbsUnderTest.on("GUEST_ROCEV2_ADDRESS", Deviation.OF_ROCE);
  }

  @Test
  void shouldReportHowMuchMemoryMustBeLockable() throws Exception {
    long length = 64L << 20;
    try (HostMemory memory = client.device.allocate(length)) {
      assertThatThrownBy(() -> client.domain.register(memory, 0, length, Node.SINK))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(OUT_OF_MEMORY))
          .hasMessageContaining("memlockLimit=8388608")
          .hasMessageContaining("at least " + length + " bytes are needed")
          .hasMessageContaining("ulimit -l");
      client.domain.register(memory, 0, 1 << 20, Node.SINK).close();
    }
  }
}
