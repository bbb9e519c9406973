// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Windows that page on demand, which a slow disk reads before their registration: one that no
 * request needs any more is not registered.
 */
@Timeout(60)
class UnneededWindowsTest {
  private static final int SLOW = TwoDisks.SLOW;

  @TempDir Path folder;
  private TwoDisks on;

  @BeforeEach
  void create() throws IOException {
    on = new TwoDisks(folder, DiskServers.onDemand(4));
  }

  @AfterEach
  void closeAndCheckForLeaks() {
    on.close();
  }

  @Test
  void shouldNotRegisterAWindowOfAShuffleThatIsUnregisteredWhileItIsRead() {
    List<Integer> unregistered = new ArrayList<>();
    on.ask(SLOW);
    on.outputs.onLoad(
        () -> {
          on.server.unregisterShuffle(SLOW, () -> unregistered.add(SLOW));
          on.pass(0);
        });
    on.runJobs();

    assertThat(on.outputs.loaded()).hasSize(1);
    assertThat(on.domain.fileCalls()).isZero();
    assertThat(unregistered).containsExactly(SLOW);
  }

  @Test
  void shouldNotRegisterAWindowForAConnectionThatEndsWhileItIsRead() {
    DiskCall call = on.ask(SLOW);
    on.outputs.onLoad(() -> on.endConnection(call));
    on.runJobs();

    assertThat(on.outputs.loaded()).hasSize(1);
    assertThat(on.count(Counter.LOCATES_DROPPED)).isEqualTo(1);
    assertNothingIsRegistered();
  }

  @Test
  void shouldNotRegisterAWindowForABlockThatUsesTcpWhenItIsRead() {
    DiskCall call = on.ask(SLOW);
    on.outputs.onLoad(() -> on.pass(TwoDisks.LIMITS.maxHangNs() + 2 * OpenLocates.CHECK_NS));
    on.runJobs();

    assertThat(on.outputs.loaded()).hasSize(1);
    assertThat(call.kinds()).containsExactly(Located.Kind.OVERLOADED);
    assertNothingIsRegistered();
  }

  private void assertNothingIsRegistered() {
    assertThat(on.domain.fileCalls()).as("windows").isZero();
    assertThat(on.domain.regionCount()).as("windows and regions of slots").isZero();
  }

  /** The answer has only the other block; the reader requests this one apart. */
  @Test
  void shouldRegisterAWindowForABlockThatIsLeftOutWhileItIsRead() {
    DiskCall call = on.ask(SLOW, TwoDisks.FAST);
    on.outputs.onLoad(() -> on.pass(TwoDisks.LIMITS.maxHoldNs() + 2 * OpenLocates.CHECK_NS));
    on.runJobs();

    assertThat(call.blocks()).containsExactly(1);
    assertThat(call.isHeldBack()).isTrue();
    assertThat(on.ask(SLOW).kinds()).as("at once").containsExactly(Located.Kind.LOCATED);
    assertThat(on.outputs.loaded()).as("one window of each disk").hasSize(2);
  }

  @Test
  void shouldRegisterAWindowForAnotherPeerWhenTheFirstOneHasEndedWhileItIsRead() throws Exception {
    DiskCall first = on.ask(SLOW);
    DiskCall second = on.askAs(2, SLOW);
    runWhileTheSecondOneWaits(() -> on.endConnection(first));

    assertThat(second.kinds()).containsExactly(Located.Kind.LOCATED);
    assertThat(on.domain.fileCalls()).isEqualTo(1);
  }

  @Test
  void shouldNotReadAWindowForAConnectionThatHasEndedWhileItWaitedForThatWindow() throws Exception {
    DiskCall first = on.ask(SLOW);
    on.ask(SLOW);
    runWhileTheSecondOneWaits(() -> on.endConnection(first));

    assertThat(on.outputs.loaded()).hasSize(1);
    assertNothingIsRegistered();
  }

  /** Two threads of the disk: one reads a window, for which the other one waits. */
  private void runWhileTheSecondOneWaits(Runnable step) throws InterruptedException {
    Runnable reads = on.jobs.remove();
    Thread waits = new Thread(on.jobs.remove(), "waits");
    on.outputs.onLoad(
        () -> {
          if (on.outputs.loaded().size() == 1) {
            waits.start();
            while (waits.getState() != Thread.State.WAITING) {
              Thread.onSpinWait();
            }
            step.run();
          }
        });
    reads.run();
    waits.join();
    on.pass(0);
  }
}
