// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.transport.TestOutputs;
import org.sparkrdma.shuffle.wire.Locate;

/** Indexes of different lengths that do not all fit. */
class IndexCacheTest {
  private static final int MOST = 1_000;
  private static final long RECENT_NS = IndexCache.RECENT.toNanos();

  @TempDir Path folder;
  private IndexCache cache;
  private long nowNs = Long.MAX_VALUE - RECENT_NS / 2;

  private void start() {
    cache = new IndexCache(new TestOutputs(folder, null), 1 << 20, MOST, new ShuffleCounters());
  }

  private static BlockLoad.Part part(long mapId) {
    ByteBuffer message = ByteBuffer.allocate(100);
    Locate.Encoder encoder = new Locate.Encoder().begin(message, 1, 1, Locate.OWN);
    encoder.block(1, mapId, 0, 1, 0, false, false);
    int lengthBytes = encoder.finish();
    Locate request = Locate.decode(message.position(0).limit(lengthBytes));
    return new BlockLoad.Part(request, 0, null, 0, Long.MAX_VALUE);
  }

  private boolean claims(BlockLoad.Part part, int partitions) {
    part.map = new MapOutput(folder, new long[partitions + 1], new long[partitions]);
    return cache.tryClaim(part, partitions, cache.evictable(nowNs));
  }

  private void end(BlockLoad.Part part) {
    cache.offer(part, cache.generation(), nowNs);
    cache.endClaim(part);
  }

  private boolean offer(long mapId, int partitions) {
    BlockLoad.Part part = part(mapId);
    boolean claimed = claims(part, partitions);
    end(part);
    return claimed;
  }

  private boolean isKept(long mapId) {
    boolean kept = cache.get(Locate.OWN, 1, mapId, nowNs) != null;
    assertThat(cache.known(Locate.OWN, 1, mapId) != null).isEqualTo(kept);
    return kept;
  }

  /** It would need the room of one that is used, too. */
  @Test
  void shouldEvictNothingForAnIndexThatItDoesNotKeep() {
    start();
    offer(1, 100);
    nowNs += RECENT_NS;
    offer(2, 700);
    assertThat(offer(3, 500)).as("it is read in part").isFalse();
    assertThat(isKept(3)).isFalse();
    assertThat(isKept(1)).isTrue();
    assertThat(isKept(2)).isTrue();
  }

  @Test
  void shouldKeepAnIndexInPlaceOfSeveralThatWereNotUsed() {
    start();
    offer(1, 300);
    offer(2, 300);
    nowNs += RECENT_NS;
    offer(3, 200);
    assertThat(offer(4, 600)).isTrue();
    nowNs += RECENT_NS / 10;
    assertThat(offer(5, 300)).isFalse();
    assertThat(isKept(1)).isFalse();
    assertThat(isKept(2)).isFalse();
    assertThat(isKept(3)).isTrue();
    assertThat(isKept(4)).isTrue();
  }

  /** However many loads begin before the first one ends, and whatever becomes of what they read. */
  @Test
  void shouldLetLoadsReadNoMoreAsAWholeThanItKeeps() {
    start();
    offer(1, 200);
    List<BlockLoad.Part> reading = List.of(part(2), part(2), part(3));
    assertThat(reading).allMatch(part -> claims(part, 200));
    BlockLoad.Part fourth = part(4);
    assertThat(claims(fourth, 200)).isFalse();
    end(reading.get(0));
    end(reading.get(1));
    assertThat(claims(fourth, 200)).as("the second one read the same").isTrue();
    long before = cache.generation();
    cache.unregister(1);
    cache.offer(reading.get(2), before, nowNs);
    cache.endClaim(reading.get(2));
    cache.endClaim(fourth);
    assertThat(isKept(3)).as("its file may be gone").isFalse();
    assertThat(claims(part(5), MOST - IndexCache.ENTRY_PARTITIONS)).isTrue();
  }
}
