// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
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

  private void offer(long mapId, int partitions) {
    MapOutput map = new MapOutput(folder, new long[partitions + 1], new long[partitions]);
    cache.offer(Locate.OWN, 1, mapId, map, cache.generation(), nowNs);
  }

  private boolean isKept(long mapId) {
    return cache.get(Locate.OWN, 1, mapId, nowNs) != null;
  }

  /** It would need the room of one that is used, too. */
  @Test
  void shouldEvictNothingForAnIndexThatItDoesNotKeep() {
    start();
    offer(1, 100);
    nowNs += RECENT_NS;
    offer(2, 700);
    offer(3, 500);
    assertThat(isKept(3)).isFalse();
    assertThat(cache.room(nowNs)).as("it is read in part").isBetween(100, 499);
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
    offer(4, 700);
    assertThat(cache.room(nowNs)).isLessThan(700);
    assertThat(isKept(1)).isFalse();
    assertThat(isKept(2)).isFalse();
    assertThat(isKept(3)).isTrue();
    assertThat(isKept(4)).isTrue();
  }
}
