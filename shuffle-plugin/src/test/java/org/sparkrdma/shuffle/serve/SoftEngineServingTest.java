// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.leak.WatchedEngine;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.spi.EngineSettings;

/** Registrations of the server on a real device of the loopback engine. */
@Timeout(60)
class SoftEngineServingTest {
  private static final int MAPS = 20;
  @TempDir Path folder;
  private final ShuffleCounters counters = new ShuffleCounters();
  private final PinnedBudget budget = new PinnedBudget(5 * ServerFixture.WINDOW, FakeDomain.PAGE);
  private VerbsEngine engine;
  private Device device;
  private ProtectionDomain domain;
  private FakeMapOutputs outputs;

  @BeforeEach
  void open() throws VerbsException, IOException {
    engine = WatchedEngine.watch(Verbs.choose("soft", EngineSettings.of(Map.of())).engine());
    device = engine.open(engine.devices().get(0).name());
    domain = device.allocateProtectionDomain();
    outputs = new FakeMapOutputs(folder);
    for (int map = 0; map < MAPS; map++) {
      outputs.write(1, map, new Random(map), true, ServerFixture.WINDOW, 5_000);
    }
  }

  @AfterEach
  void closeAndCheckForLeaks() {
    domain.close();
    budget.close();
    device.close();
    engine.close();
  }

  private BlockServer server(Mode mode) {
    return new BlockServer(
        new ServerParameters(
            new ServeSettings(
                mode,
                ServerFixture.WINDOW,
                ServerFixture.SLOT,
                4,
                ServerFixture.LEASE,
                100,
                1000,
                100,
                ServerFixture.IDLE,
                false,
                false),
            outputs,
            device,
            domain,
            budget,
            counters,
            peer -> {},
            Duration.ofSeconds(30),
            System::nanoTime),
        ServerFixture.direct(System::nanoTime));
  }

  @Test
  void shouldRegisterEvictAndUnregisterFiles() throws IOException {
    try (BlockServer server = server(Mode.WINDOW)) {
      for (int map = 0; map < MAPS; map++) {
        locate(server, map);
        server.onPeerGone(map);
        server.doWork();
      }
      assertThat(counters.value(Counter.PIECES_FROM_WINDOWS)).isEqualTo(2 * MAPS);
      assertThat(counters.value(Counter.BLOCKS_SENT_TO_TCP)).isZero();
      assertThat(budget.pinnedBytes()).isPositive();
      outputs.delete(1);
      boolean[] done = new boolean[1];
      server.unregisterShuffle(1, () -> done[0] = true);
      while (!done[0]) {
        server.doWork();
      }
      assertThat(budget.pinnedBytes()).isZero();
    }
  }

  @Test
  void shouldCopyAndCloseWithOutstandingLeases() {
    try (BlockServer server = server(Mode.COPY)) {
      locate(server, 0);
      assertThat(counters.value(Counter.PIECES_FROM_SLOTS)).isPositive();
    }
  }

  @Test
  void shouldCopyNothingOfADeletedFile() throws IOException {
    try (BlockServer server = server(Mode.AUTO)) {
      Files.delete(outputs.get(1, 3).dataFile());
      locate(server, 3);
      assertThat(counters.value(Counter.BLOCKS_SENT_TO_TCP)).isEqualTo(1);
    }
  }

  private static void locate(BlockServer server, int map) {
    ByteBuffer request = ByteBuffer.allocate(100);
    Locate.Encoder encoder = new Locate.Encoder().begin(request, 1);
    encoder.block(1, map, 0, 2, 0, false);
    request.limit(encoder.finish()).position(0);
    boolean[] answered = new boolean[1];
    server.locate(
        new TestLocateCall(map, request, ByteBuffer.allocate(4096)) {
          @Override
          public void answered(int lengthBytes) {
            answered[0] = true;
          }

          @Override
          public void malformed(String reason) {
            throw new IllegalStateException(reason);
          }
        });
    server.doWork();
    assertThat(answered[0]).isTrue();
  }
}
