// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/** Records the answers for Spark's fetcher, and lets a test wait for a number of answers. */
public final class RecordingListener implements BlockFetchingListener {
  private final List<String> answered = new ArrayList<>();
  private final Map<String, Throwable> failures = new TreeMap<>();
  private final BiConsumer<String, ManagedBuffer> onAnswer;

  public RecordingListener() {
    this((blockId, buffer) -> {});
  }

  /**
   * Passes each block on, which the caller of the listener may release afterwards; null for one
   * that has failed.
   */
  public RecordingListener(BiConsumer<String, ManagedBuffer> onAnswer) {
    this.onAnswer = onAnswer;
  }

  @Override
  public synchronized void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    onAnswer.accept(blockId, buffer);
    answered.add(blockId);
    notifyAll();
  }

  @Override
  public synchronized void onBlockFetchFailure(String blockId, Throwable failure) {
    onAnswer.accept(blockId, null);
    answered.add(blockId);
    failures.put(blockId, failure);
    notifyAll();
  }

  /** Waits for that many answered blocks; returns their names. */
  public synchronized List<String> awaitAnswers(int count) throws InterruptedException {
    while (answered.size() < count) {
      wait();
    }
    return List.copyOf(answered);
  }

  /** Failures by block. */
  public synchronized Map<String, Throwable> failures() {
    return new TreeMap<>(failures);
  }
}
