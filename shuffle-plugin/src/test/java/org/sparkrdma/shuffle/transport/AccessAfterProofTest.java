// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.verbs.WorkStatus;

/**
 * An initiator grants no remote access before the peer is proven, however long the check takes: its
 * agent is stopped when the answer arrives.
 */
@Timeout(60)
class AccessAfterProofTest {
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));

  @TempDir private Path directory;
  private final AtomicReference<CountDownLatch> stall = new AtomicReference<>();
  private final CountDownLatch stalled = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);

  /** Stops the agent in its next turn. */
  private long nanoTime() {
    if (stall.get() != null && Thread.currentThread().getName().startsWith("rdma-agent")) {
      stalled.countDown();
      await(goOn);
    }
    return System.nanoTime();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Answers with a wrong proof while the initiator's agent is stopped, and READs at once. */
  private final class Thief implements HostileServer.Script {
    private final long address;
    private final int remoteKey;

    Thief(long address, int remoteKey) {
      this.address = address;
      this.remoteKey = remoteKey;
    }

    @Override
    public void onLocate(HostileServer.Question question) {}

    @Override
    public byte[] answer(Hello request, ConnectionBinding binding, Endpoint self) {
      stall.set(goOn);
      await(stalled);
      return request
          .answer(1, new byte[Hello.NONCE_BYTES])
          .encodeAnswer(new byte[] {1}, binding, request);
    }

    @Override
    public void onAccepted(HostileServer server) {
      server.read(address, remoteKey, 1_000);
    }
  }

  @Test
  void shouldRefuseReadsOfAServerThatIsNotProven() throws Exception {
    TestExecutor.Options options = new TestExecutor.Options(1).mode(ServeSettings.Mode.WINDOW);
    try (TestExecutor victim = new TestExecutor(directory, options.nanoClock(this::nanoTime));
        HostilePeer member = new HostilePeer()) {
      assumeTrue(member.isAccessWithheld(), "there the device cannot withhold access");
      victim.outputs().write(1, new Random(1), 200_000);
      member.connect(victim.endpoint());
      Located.Decoder located = member.locateAndAwait(BLOCKS.get(0));
      try (HostileServer thief =
          new HostileServer(2, new Thief(located.address(), (int) located.remoteKey()))) {
        CollectedBlocks collected = new CollectedBlocks(BLOCKS);
        FetchHandler.fetch(victim.transport(), thief.endpoint(), BLOCKS, collected);
        assertThat(thief.awaitRead()).isNotNull().isNotEqualTo(WorkStatus.SUCCESS);
        goOn.countDown();
        assertThat(collected.await().failed(0)).isTrue();
      }
    }
  }
}
