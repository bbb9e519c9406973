// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.zip.CRC32C;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.BlockRanges;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * A request that keeps the bytes or the reason of each block; a block that is settled twice by the
 * transport, but for the end of it, is an error.
 */
final class LinkBlocks implements BlockRequest {
  private static final class Failed {
    private final FallbackReason reason;
    private final String detail;

    Failed(FallbackReason reason, String detail) {
      this.reason = reason;
      this.detail = detail;
    }

    @Override
    public String toString() {
      return reason.label() + ": " + detail;
    }
  }

  private final Endpoint endpoint;
  private final BlockRanges ranges;
  private final AtomicReferenceArray<Object> results;
  private final CountDownLatch left;
  private volatile boolean settledTwice;
  private volatile boolean ended;

  LinkBlocks(Endpoint endpoint, List<BlockRange> blocks) {
    this.endpoint = endpoint;
    ranges = new BlockRanges(blocks.size());
    for (BlockRange block : blocks) {
      ranges.add(block.shuffleId(), block.mapId(), block.startReduceId(), block.endReduceId());
    }
    results = new AtomicReferenceArray<>(blocks.size());
    left = new CountDownLatch(blocks.size());
  }

  @Override
  public Endpoint endpoint() {
    return endpoint;
  }

  @Override
  public BlockRanges ranges() {
    return ranges;
  }

  @Override
  public boolean needsFreshSums(int index) {
    return false;
  }

  @Override
  public void onRead(int index, ReceivedBlock block) {
    ByteBuffer bytes = ByteBuffer.allocate((int) block.lengthBytes());
    for (int i = 0; i < block.segmentCount(); i++) {
      bytes.put(block.segment(i));
    }
    boolean sumsMatch = sumsMatch(block, bytes.array());
    block.release();
    settle(index, sumsMatch ? bytes.array() : "checksums differ");
  }

  private static boolean sumsMatch(ReceivedBlock block, byte[] bytes) {
    int begin = 0;
    for (int i = 0; i < block.sums(); i++) {
      CRC32C sum = new CRC32C();
      sum.update(bytes, begin, (int) block.sumEnd(i) - begin);
      if (sum.getValue() != block.sum(i)) {
        return false;
      }
      begin = (int) block.sumEnd(i);
    }
    return begin == bytes.length;
  }

  @Override
  public void onFailed(int index, FallbackReason reason, String detail) {
    settle(index, new Failed(reason, detail));
  }

  @Override
  public void failRest(FallbackReason reason, String detail) {
    ended = true;
    for (int i = 0; i < results.length(); i++) {
      if (results.compareAndSet(i, null, new Failed(reason, detail))) {
        left.countDown();
      }
    }
  }

  private void settle(int index, Object result) {
    if (results.compareAndSet(index, null, result)) {
      left.countDown();
    } else if (!ended) {
      settledTwice = true;
    }
  }

  LinkBlocks await() throws InterruptedException {
    assertThat(left.await(30, TimeUnit.SECONDS)).as("all blocks settled: %s", this).isTrue();
    assertThat(settledTwice).as("a block settled twice").isFalse();
    return this;
  }

  byte[] bytes(int index) {
    assertThat(results.get(index)).as("block %s", index).isInstanceOf(byte[].class);
    return (byte[]) results.get(index);
  }

  FallbackReason reason(int index) {
    assertThat(results.get(index)).as("block %s", index).isInstanceOf(Failed.class);
    return ((Failed) results.get(index)).reason;
  }

  boolean wasRead(int index) {
    return results.get(index) instanceof byte[];
  }

  /** Number of blocks for each kind of result. */
  @Override
  public String toString() {
    TreeMap<String, Integer> counts = new TreeMap<>();
    for (int i = 0; i < results.length(); i++) {
      Object result = results.get(i);
      counts.merge(result instanceof byte[] ? "read" : String.valueOf(result), 1, Integer::sum);
    }
    return counts.toString();
  }
}
