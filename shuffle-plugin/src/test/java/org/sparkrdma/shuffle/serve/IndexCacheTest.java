// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.transport.TestOutputs;
import org.sparkrdma.shuffle.wire.Locate;

/** Indexes of different lengths that do not all fit. */
class IndexCacheTest {
  private static final int MOST = 2_100;
  private static final long RECENT_NS = IndexCache.RECENT.toNanos();

  @TempDir Path folder;
  private IndexCache cache;
  private long nowNs = Long.MAX_VALUE - RECENT_NS / 2;

  private void start() {
    cache = new IndexCache(new TestOutputs(folder, null), 1 << 20, MOST, new ShuffleCounters());
  }

  private void offer(long mapId, int partitions) {
    MapOutput map = new MapOutput(folder, new long[partitions + 1], new long[partitions]);
    cache.offer(Locate.OWN, 1, mapId, map, cache.generation(), nowNs);
  }

  private boolean isKept(long mapId) {
    return cache.get(Locate.OWN, 1, mapId, nowNs) != null;
  }

  private BlockLoad.Part begin(int shuffleId, long mapId) {
    ByteBuffer message = ByteBuffer.allocate(100);
    Locate.Encoder encoder = new Locate.Encoder().begin(message, 1, 1, Locate.OWN);
    encoder.block(shuffleId, mapId, 0, 1, 0, false);
    int lengthBytes = encoder.finish();
    Locate request = Locate.decode(message.position(0).limit(lengthBytes));
    BlockLoad.Part part = new BlockLoad.Part(request, 0, null, 0, Long.MAX_VALUE);
    cache.beginRead(part, nowNs);
    return part;
  }

  /** It would need the room of one that is used, too. */
  @Test
  void shouldEvictNothingForAnIndexThatItDoesNotKeep() {
    start();
    offer(1, 200);
    nowNs += RECENT_NS;
    offer(2, 1_400);
    offer(3, 1_000);
    assertThat(isKept(3)).isFalse();
    assertThat(begin(1, 3).maxWhole).as("it is read in part").isZero();
    assertThat(isKept(1)).isTrue();
    assertThat(isKept(2)).isTrue();
  }

  @Test
  void shouldKeepAnIndexInPlaceOfSeveralThatWereNotUsed() {
    start();
    offer(1, 600);
    offer(2, 600);
    nowNs += RECENT_NS;
    offer(3, 400);
    offer(4, 1_400);
    assertThat(begin(1, 5).maxWhole).isZero();
    assertThat(isKept(1)).isFalse();
    assertThat(isKept(2)).isFalse();
    assertThat(isKept(3)).isTrue();
    assertThat(isKept(4)).isTrue();
  }

  /** However many loads begin before the first one ends. */
  @Test
  void shouldLetLoadsReadNoMoreAsAWholeThanItKeeps() {
    start();
    offer(1, 500);
    BlockLoad.Part second = begin(1, 2);
    assertThat(second.maxWhole).isEqualTo(500);
    assertThat(begin(1, 2).maxWhole).as("another load reads it").isZero();
    begin(1, 3);
    begin(1, 4);
    assertThat(begin(1, 5).maxWhole).isZero();
    cache.endRead(second);
    cache.endRead(second);
    assertThat(begin(1, 5).maxWhole).isEqualTo(500);
    assertThat(begin(1, 6).maxWhole).isZero();
  }

  /** The first ones of a shuffle are read as a whole if they are short. */
  @Test
  void shouldLearnTheLengthOfAShuffleFromThePartOfAnIndex() {
    start();
    assertThat(begin(2, 1).maxWhole).isEqualTo(MOST / 2_048);
    MapOutput part =
        new MapOutput(folder, new long[2], new long[1]) {
          @Override
          public int partitions() {
            return 500;
          }

          @Override
          public boolean isWhole() {
            return false;
          }
        };
    cache.offer(Locate.OWN, 2, 1, part, cache.generation(), nowNs);
    assertThat(begin(2, 2).maxWhole).isEqualTo(500);
    cache.unregister(2);
    assertThat(begin(2, 3).maxWhole).as("a new one with its id").isEqualTo(MOST / 2_048);
  }
}
