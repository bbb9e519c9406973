// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class SharedTableTest {
  private static final int NUMBER = 4096 + 7;
  private static final int QUEUE_PAIR = 7;
  private static final int REGION = 3;

  @TempDir Path directory;
  private SharedTable owner;
  private SharedTable peer;
  private ProcessIdentity self;

  @BeforeEach
  void attach() throws IOException {
    Path file = directory.resolve("table");
    owner = SharedTable.create(file, new byte[SharedTable.SECRET_BYTES]);
    peer = SharedTable.attach(file);
    self = ProcessIdentity.self();
  }

  @Test
  void shouldHoldAQueuePairWhileAPeerUsesIt() throws InterruptedException {
    int reader = peer.claimReader(self);
    peer.enter(reader, QUEUE_PAIR, REGION, false);
    owner.retireQueuePair(QUEUE_PAIR);
    assertWaits(() -> owner.awaitQueuePairReaders(QUEUE_PAIR), () -> peer.leave(reader));
  }

  private static void assertWaits(Runnable wait, Runnable end) throws InterruptedException {
    var ended = new AtomicBoolean();
    var early = new AtomicBoolean();
    var waiter =
        new Thread(
            () -> {
              wait.run();
              early.set(!ended.get());
            });
    waiter.start();
    while (waiter.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    ended.set(true);
    end.run();
    waiter.join();
    assertThat(early).isFalse();
  }

  @Test
  void shouldNotWaitForUsersOfOtherRegions() {
    int reader = peer.claimReader(self);
    peer.enter(reader, QUEUE_PAIR, REGION, false);
    owner.retireRegion(REGION + 1);
    owner.awaitQueuePairReaders(QUEUE_PAIR + 1);
  }

  @Test
  void shouldNotWaitForDeadProcesses() {
    int reader = peer.claimReader(new ProcessIdentity(self.pid(), self.startTicks() + 1));
    peer.enter(reader, QUEUE_PAIR, REGION, false);
    owner.retireRegion(REGION);
    owner.awaitQueuePairReaders(QUEUE_PAIR);
  }

  @Test
  void shouldReuseTheEntriesOfDeadProcesses() {
    var dead = new ProcessIdentity(self.pid(), self.startTicks() + 1);
    for (int i = 0; i < SharedTable.READERS; i++) {
      assertThat(peer.claimReader(i == 5 ? dead : self)).isEqualTo(i);
    }
    assertThat(peer.claimReader(self)).isEqualTo(5);
    assertThat(peer.claimReader(self)).isEqualTo(-1);
    peer.releaseReader(9);
    assertThat(peer.claimReader(self)).isEqualTo(9);
  }

  @Test
  void shouldRefuseAFileThatIsNoTable() throws IOException {
    Path empty = Files.write(directory.resolve("empty"), new byte[100]);
    assertThatThrownBy(() -> SharedTable.attach(empty)).hasMessageContaining("lengthBytes=100");
    Path zeros =
        Files.write(
            directory.resolve("zeros"), new byte[(int) Files.size(directory.resolve("table"))]);
    assertThatThrownBy(() -> SharedTable.attach(zeros)).hasMessageContaining("magic");
  }

  @Test
  void shouldDistinguishLiveFromDeadProcesses() {
    assertThat(self.isAlive()).isTrue();
    assertThat(ProcessIdentity.ofWord(self.toWord())).isEqualTo(self);
    assertThat(new ProcessIdentity(self.pid(), self.startTicks() - 1).isAlive()).isFalse();
    assertThat(new ProcessIdentity(Integer.MAX_VALUE, 1).isAlive()).isFalse();
  }
}
