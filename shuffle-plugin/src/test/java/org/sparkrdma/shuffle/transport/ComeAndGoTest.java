// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.SimulatedDirectory;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.VerbsException;

/**
 * One executor stays while 5,000 others come and go. Each of these serves it a block and reads a
 * block from it. In virtual time, with the driver's directory.
 */
@Tag("slow")
@Timeout(300)
class ComeAndGoTest {
  private static final int WAVES = 10;
  private static final int EXECUTORS_PER_WAVE = 500;

  /** The directory remembers the last 1,000 removed executors, so it is full after these. */
  private static final int WAVES_UNTIL_FULL = 3;

  private static final int BLOCK_BYTES = 64 << 10;
  private static final long PINNED_BYTES = 16L << 20;
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  /** Longer than the default of {@code idle.timeout}, after which no state of a peer is kept. */
  private static final long FORGOTTEN_NS = 70 * SECOND;

  @TempDir private Path directory;
  private final VirtualFabric fabric = new VirtualFabric();
  private final SimulatedDirectory driver = new SimulatedDirectory();
  private Path file;
  private VirtualExecutor lasting;
  private int started;
  private int answers;
  private int read;

  /** The state after a wave, when all its executors are removed. */
  private record State(int objects, int driverObjects, int clientEntries, long steps) {}

  @BeforeEach
  void start() throws IOException, VerbsException {
    file = directory.resolve("outputs.data");
    try (RandomAccessFile outputs = new RandomAccessFile(file.toFile(), "rw")) {
      outputs.setLength(2L * BLOCK_BYTES);
    }
    lasting = executor(0);
    driver.publish(lasting.endpoint());
  }

  private VirtualExecutor executor(int number) throws VerbsException {
    return new VirtualExecutor(fabric, number, PINNED_BYTES, 64, file, 2, BLOCK_BYTES);
  }

  @AfterEach
  void close() {
    lasting.close();
    driver.close();
  }

  @Test
  void shouldNeedNoMoreMemoryAndStepsAfterFiveThousandExecutors() throws Exception {
    List<State> states = new ArrayList<>();
    byte[] recorded = null;
    for (int wave = 0; wave < WAVES; wave++) {
      long steps = lasting.work();
      for (int i = 0; i < EXECUTORS_PER_WAVE; i++) {
        byte[] request = comeAndGo();
        recorded = recorded == null ? request : recorded;
      }
      runFor(FORGOTTEN_NS);
      states.add(
          new State(
              lasting.objects().size(),
              new ObjectWalk().from(driver.driver()).size(),
              driver.clientSize(),
              lasting.work() - steps));
    }

    assertThat(started).isEqualTo(WAVES * EXECUTORS_PER_WAVE);
    assertThat(read).as("blocks by READ, one in each direction").isEqualTo(2 * started);
    State full = states.get(WAVES_UNTIL_FULL - 1);
    for (State later : states.subList(WAVES_UNTIL_FULL, WAVES)) {
      // Buffers and windows of the last executors may still be registered.
      assertThat(later.objects())
          .as("memory: %s", states)
          .isLessThan(full.objects() + EXECUTORS_PER_WAVE / 10);
      assertThat(later.driverObjects()).as("memory: %s", states).isEqualTo(full.driverObjects());
      assertThat(later.clientEntries()).as("memory: %s", states).isEqualTo(full.clientEntries());
      assertThat((double) later.steps())
          .as("steps of the agent: %s", states)
          .isBetween(0.99 * full.steps(), 1.01 * full.steps());
    }
    assertReplayIsNotConfirmed(recorded);
  }

  /** Returns the connection request of the executor. */
  private byte[] comeAndGo() throws VerbsException {
    VirtualExecutor guest = executor(++started);
    driver.publish(guest.endpoint());
    Endpoint found = driver.find(guest.endpoint().executorId()).orElseThrow();
    int before = answers;
    if (started % 2 == 0) {
      fetch(lasting, found);
      fetchAfter(before + 1, guest, lasting.endpoint());
    } else {
      fetch(guest, lasting.endpoint());
      fetchAfter(before + 1, lasting, found);
    }
    assertThat(fabric.runUntil(() -> answers == before + 2, fabric.nowNs() + SECOND)).isTrue();
    guest.close();
    driver.remove(guest.endpoint().executorId());
    runFor(SECOND / 10);
    return guest.lastRequest();
  }

  private void fetchAfter(int expected, VirtualExecutor reader, Endpoint peer) {
    assertThat(fabric.runUntil(() -> answers == expected, fabric.nowNs() + SECOND)).isTrue();
    fetch(reader, peer);
  }

  private void runFor(long durationNs) {
    fabric.runUntil(() -> false, fabric.nowNs() + durationNs);
  }

  /** Replays the request of an executor of which no state is kept any more. */
  private void assertReplayIsNotConfirmed(byte[] recorded) throws VerbsException {
    long established = lasting.count(Counter.CONNECTIONS_ESTABLISHED);
    VirtualExecutor replayer = executor(1);
    replayer.replay(recorded, lasting.endpoint());
    runFor(SECOND);
    assertThat(lasting.connections()).as("accepted, without access").isEqualTo(1);
    assertThat(lasting.established()).isEmpty();
    runFor(10 * SECOND);
    assertThat(lasting.connections()).isZero();
    assertThat(lasting.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(established);
    replayer.close();
  }

  private void fetch(VirtualExecutor reader, Endpoint peer) {
    reader.fetch(peer, List.of(new BlockRange(0, 1, 0, 1)), new Handler());
  }

  private final class Handler implements FetchHandler {
    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      answers++;
      read++;
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      answers++;
    }
  }
}
