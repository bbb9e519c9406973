// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.leak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.spi.EngineSettings;

/** Leaks objects on purpose: each must be reported with the code that acquired it. */
@Timeout(120)
class LeaksTest {
  private static final int PAGE = 4096;

  private VerbsEngine engine;
  private Device device;
  private ProtectionDomain domain;
  private PinnedBudget budget;

  @BeforeEach
  void openDevice() throws VerbsException {
    engine = WatchedEngine.watch(Verbs.choose("soft", EngineSettings.of(Map.of())).engine());
    device = engine.open(engine.devices().get(0).name());
    domain = device.allocateProtectionDomain();
    budget = new PinnedBudget(1 << 20, PAGE);
  }

  @AfterEach
  void closeDevice() {
    device.close();
    engine.close();
  }

  @Test
  void shouldReportNothingWhenEverythingIsClosed() throws Exception {
    Leaks leaks = Leaks.snapshot();
    try (var memory = device.allocate(PAGE);
        var region = domain.register(memory, 0, PAGE, Set.of(AccessFlag.REMOTE_READ));
        var grant = budget.tryGrant(1).orElseThrow()) {
      assertThat(region.lengthBytes() + grant.heldBytes()).isEqualTo(2 * PAGE);
      assertThatThrownBy(leaks::checkNow)
          .hasMessageContaining("memory region acquired by thread")
          .hasMessageContaining("host memory acquired by thread")
          .hasMessageContaining("grant of pinned bytes acquired by thread");
    }
    assertThatCode(leaks::check).doesNotThrowAnyException();
  }

  @Test
  void shouldReportAThreadThatStillRuns() throws Exception {
    Leaks leaks = Leaks.snapshot();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    Thread left = new Thread(() -> runUntilReleased(begun, end), "rdma-left-on-purpose");
    left.start();
    begun.await();
    assertThatThrownBy(leaks::checkNow)
        .hasMessageContaining("thread rdma-left-on-purpose runs")
        .hasMessageContaining("LeaksTest.runUntilReleased");
    end.countDown();
    left.join();
    assertThatCode(leaks::check).doesNotThrowAnyException();
  }

  private static void runUntilReleased(CountDownLatch begun, CountDownLatch end) {
    begun.countDown();
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void shouldReportDescriptorsAndMappingsOfALeakedDevice() throws Exception {
    Leaks leaks = Leaks.snapshot();
    Device left = engine.open(engine.devices().get(0).name());
    left.allocate(PAGE);
    assertThatThrownBy(leaks::checkNow).hasMessageContaining("device acquired by thread");
    assertThatThrownBy(leaks::checkMappingsNow).hasMessageContaining("mappings: ");
    left.close();
    assertThatCode(leaks::check).doesNotThrowAnyException();
  }
}
