// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/** Errors while a shuffle is unregistered, in virtual time. Closing checks for leaks. */
@Timeout(60)
class UnregistrationErrorsTest {
  private static final int SHUFFLE = 1;
  private static final int MAPS = 3;

  @TempDir Path folder;
  private final FailingLock lock = new FailingLock();
  private long nowNs;

  /** Throws when an assertion of the server asks whether the thread has it. */
  private static final class FailingLock extends StateLock.HeldLock {
    private static final long serialVersionUID = 1;

    private int failures;

    @Override
    public boolean isHeldByCurrentThread() {
      if (failures > 0) {
        failures--;
        throw new OutOfMemoryError("thrown by the test");
      }
      return super.isHeldByCurrentThread();
    }
  }

  /** The idle time-out is an hour. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 8})
  void shouldDeregisterTheWindowsOfARemovedShuffleAfterErrors(int errors) throws Exception {
    FakeMapOutputs outputs = new FakeMapOutputs(folder);
    int[] done = new int[1];
    try (FakeDomain domain = new FakeDomain();
        PinnedBudget budget = new PinnedBudget(1 << 30, FakeDomain.PAGE);
        BlockServer server =
            new BlockServer(
                DiskServers.parameters(
                    outputs,
                    domain,
                    budget,
                    new ShuffleCounters(),
                    Duration.ofMinutes(1),
                    () -> nowNs,
                    DiskServers.windows(1000)),
                ServerFixture.direct(() -> nowNs),
                System::nanoTime,
                new StateLock(lock))) {
      for (int map = 0; map < MAPS; map++) {
        outputs.write(SHUFFLE, map, new Random(map), true, 100);
        Call call = new Call(map);
        server.locate(call);
        server.doWork();
        server.release(9, new long[] {call.leaseId()}, () -> {});
      }
      server.doWork();
      assertThat(domain.regionCount()).isEqualTo(MAPS);

      lock.failures = errors;
      server.unregisterShuffle(SHUFFLE, () -> done[0]++);
      for (int turn = 0; turn < 2 * errors; turn++) {
        server.doWork();
        nowNs += OpenLocates.CHECK_NS;
      }

      assertThat(lock.failures).as("Errors to come").isZero();
      assertThat(domain.regionCount()).isZero();
      assertThat(done[0]).isEqualTo(1);
    }
  }

  /** Requests the first block of a map output. */
  private static final class Call extends TestLocateCall {
    private int lengthBytes;

    Call(int map) {
      super(9, request(map), ByteBuffer.allocate(1000));
    }

    private static ByteBuffer request(int map) {
      ByteBuffer buffer = ByteBuffer.allocate(100);
      Locate.Encoder encoder = new Locate.Encoder().begin(buffer, 1);
      encoder.block(SHUFFLE, map, 0, 1, 0, false);
      return buffer.slice(0, encoder.finish());
    }

    long leaseId() {
      Located.Decoder in = new Located.Decoder().begin(answer().slice(0, lengthBytes));
      assertThat(in.nextPiece()).isTrue();
      assertThat(in.kind()).isEqualTo(Located.Kind.LOCATED);
      return in.leaseId();
    }

    @Override
    public void answered(int newLengthBytes) {
      lengthBytes = newLengthBytes;
    }

    @Override
    public void malformed(String reason) {
      throw new AssertionError(reason);
    }
  }
}
