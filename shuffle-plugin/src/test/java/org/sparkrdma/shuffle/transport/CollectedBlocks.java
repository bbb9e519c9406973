// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Predicate;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.UnusableChecksums;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/** A handler that keeps the bytes or the reason of each block, and fails on a second answer. */
final class CollectedBlocks implements FetchHandler {
  private final AtomicReferenceArray<Object> results;
  private final CountDownLatch left;
  private final Semaphore answers = new Semaphore(0);
  private final List<BlockRange> blocks;
  private final TestExecutor reader;
  private volatile boolean answeredTwice;

  /**
   * @param reader has counters, and Spark's client for blocks whose checksum differs
   */
  CollectedBlocks(List<BlockRange> blocks, TestExecutor reader) {
    this.blocks = blocks;
    this.reader = reader;
    results = new AtomicReferenceArray<>(blocks.size());
    left = new CountDownLatch(blocks.size());
  }

  @Override
  public void onFetched(int index, ManagedBuffer buffer) {
    try (InputStream in = buffer.createInputStream()) {
      answer(index, in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void onFailed(int index, FallbackReason reason, String detail) {
    answer(index, reason);
  }

  @Override
  public BlockStoreClient spark() {
    return reader.spark();
  }

  @Override
  public ShuffleCounters counters() {
    return reader.counters();
  }

  @Override
  public UnusableChecksums unusable() {
    return reader.unusable();
  }

  private void answer(int index, Object result) {
    if (results.compareAndSet(index, null, result)) {
      left.countDown();
      answers.release();
    } else {
      answeredTwice = true;
    }
  }

  CollectedBlocks await() throws InterruptedException {
    assertThat(left.await(30, TimeUnit.SECONDS)).as("all blocks answered").isTrue();
    assertThat(answeredTwice).as("a block answered twice").isFalse();
    return this;
  }

  /** Waits until so many blocks have an answer; once. */
  void awaitFirst(int count) throws InterruptedException {
    boolean answered = answers.tryAcquire(count, 30, TimeUnit.SECONDS);
    assertThat(answered).as("%s blocks answered", count).isTrue();
  }

  /** Number of blocks with an answer. */
  int answered() {
    return results.length() - (int) left.getCount();
  }

  byte[] bytes(int index) {
    assertThat(results.get(index)).as("block %s", index).isInstanceOf(byte[].class);
    return (byte[]) results.get(index);
  }

  /** Number of blocks by TCP for each reason. */
  Map<String, Long> reasons() {
    Map<String, Long> reasons = new TreeMap<>();
    for (int i = 0; i < results.length(); i++) {
      if (results.get(i) instanceof FallbackReason reason) {
        reasons.merge(reason.label(), 1L, Long::sum);
      }
    }
    return reasons;
  }

  /** Asserts a condition of the blocks that were read; those by TCP have no bytes here. */
  void assertRead(Predicate<byte[]> right) {
    for (int i = 0; i < results.length(); i++) {
      if (results.get(i) instanceof byte[] bytes) {
        assertThat(right.test(bytes)).as("bytes of block %s", i).isTrue();
      }
    }
  }

  FallbackReason reason(int index) {
    assertThat(results.get(index)).as("block %s", index).isInstanceOf(FallbackReason.class);
    return (FallbackReason) results.get(index);
  }

  boolean wasRead(int index) {
    return results.get(index) instanceof byte[];
  }

  List<BlockRange> blocks() {
    return blocks;
  }

  boolean failed(int index) {
    return results.get(index) instanceof FallbackReason;
  }
}
