// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.leak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.spi.EngineSettings;

/** Leaks objects on purpose: each must be reported with the code that acquired it. */
@Timeout(120)
class LeaksTest {
  private static final int PAGE = 4096;

  @Test
  void shouldReportEachLeakUntilItIsClosed() throws Exception {
    var end = new Semaphore(0);
    var left = new Thread(end::acquireUninterruptibly, "rdma-left-on-purpose");
    Leaks leaks = Leaks.snapshot();
    try (VerbsEngine engine =
            WatchedEngine.watch(Verbs.choose("soft", EngineSettings.of(Map.of())).engine());
        Device device = engine.open(engine.devices().get(0).name());
        ProtectionDomain domain = device.allocateProtectionDomain();
        var memory = device.allocate(PAGE);
        var region = domain.register(memory, 0, PAGE, Set.of(AccessFlag.REMOTE_READ));
        var grant = new PinnedBudget(1 << 20, PAGE).tryGrant(1).orElseThrow()) {
      left.start();
      assertThat(region.lengthBytes() + grant.heldBytes()).isEqualTo(2 * PAGE);
      assertThatThrownBy(leaks::checkNow)
          .hasMessageContainingAll(
              "device acquired by thread",
              "memory region acquired by thread",
              "host memory acquired by thread",
              "grant of pinned bytes acquired by thread",
              "LeaksTest.shouldReportEachLeakUntilItIsClosed",
              "descriptors: ",
              "thread rdma-left-on-purpose runs");
      assertThatThrownBy(leaks::checkMappingsNow).hasMessageContaining("mappings: ");
    }
    end.release();
    left.join();
    assertThatCode(leaks::check).doesNotThrowAnyException();
  }
}
