// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * A reader whose JVM pauses while it fetches, in virtual time: the devices go on, so that its READs
 * complete and its peers answer.
 */
@Timeout(120)
class PausedReaderTest {
  private static final int BLOCK_BYTES = 256 << 10;
  private static final int BLOCKS = 64;
  private static final long LIMIT_NS = Duration.ofSeconds(90).toNanos();

  @TempDir private Path directory;
  private VirtualFabric fabric;
  private final List<VirtualExecutor> executors = new ArrayList<>();
  private final Map<FallbackReason, Integer> failures = new HashMap<>();
  private int answered;
  private long firstReadNs;

  @AfterEach
  void close() {
    executors.forEach(VirtualExecutor::close);
    executors.clear();
  }

  private VirtualExecutor start(int servers, Map<String, String> settings) throws Exception {
    close();
    fabric = new VirtualFabric();
    failures.clear();
    answered = 0;
    Path file = directory.resolve("outputs.data");
    try (RandomAccessFile outputs = new RandomAccessFile(file.toFile(), "rw")) {
      outputs.setLength(2L * BLOCK_BYTES);
    }
    for (int i = 0; i <= servers; i++) {
      executors.add(new VirtualExecutor(fabric, i, 4L << 30, settings, file, 2, BLOCK_BYTES));
    }
    return executors.get(0);
  }

  private final class Fetch implements FetchHandler {

    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      answered++;
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      answered++;
      failures.merge(reason, 1, Integer::sum);
    }
  }

  /** Fetches from all others; returns the time that it took, and notes that of the first READ. */
  private long fetchAll(VirtualExecutor reader, long pauseAtNs, Duration pause) {
    long beginNs = fabric.nowNs();
    List<BlockRange> blocks =
        IntStream.range(0, BLOCKS).mapToObj(map -> new BlockRange(0, map, 0, 1)).toList();
    int wanted = 0;
    for (VirtualExecutor server : executors) {
      if (server != reader) {
        reader.fetch(server.endpoint(), blocks, new Fetch());
        wanted += BLOCKS;
      }
    }
    int all = wanted;
    fabric.at(beginNs + pauseAtNs, reader::hang);
    fabric.at(beginNs + pauseAtNs + pause.toNanos(), reader::resume);
    assertThat(fabric.runUntil(() -> reader.maxBytesInFlight() > 0, beginNs + LIMIT_NS)).isTrue();
    firstReadNs = fabric.nowNs() - beginNs;
    assertThat(fabric.runUntil(() -> answered == all, beginNs + LIMIT_NS)).isTrue();
    return fabric.nowNs() - beginNs;
  }

  /** More READs complete meanwhile than the agent takes at once. */
  @Test
  void shouldQuarantineNoPeerAfterAPauseLongerThanTheRequestTimeout() throws Exception {
    Map<String, String> settings =
        Map.of("reads.bytes.max", "1g", "chunk.size", "256k", "request.timeout", "5s");
    long wholeNs = fetchAll(start(12, settings), 0, Duration.ZERO);
    for (int part = 1; part < 20; part++) {
      VirtualExecutor reader = start(12, settings);
      fetchAll(reader, wholeNs * part / 20, Duration.ofSeconds(6));
      assertThat(failures).as("paused at part %d of 20", part).isEmpty();
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
    }
  }

  @Test
  void shouldUseAnswersThatTakeLongerThanTheIdleTimeoutOfTheServer() throws Exception {
    Map<String, String> settings = Map.of("idle.timeout", "100ms", "connections.max", "1");
    long wholeNs = fetchAll(start(1, settings), 0, Duration.ZERO);
    long readsNs = firstReadNs;
    for (int part = 0; part < 20; part++) {
      VirtualExecutor reader = start(1, settings);
      VirtualExecutor server = executors.get(1);
      long pauseNs = readsNs + (wholeNs - readsNs) * part / 20;
      fetchAll(reader, pauseNs, Duration.ofSeconds(1));
      assertThat(failures).as("paused at part %d of 20", part).isEmpty();
      assertThat(server.count(Counter.CONNECTIONS_CLOSED)).as("part %d of 20", part).isZero();
      assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    }
  }
}
