// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/**
 * The bytes that a task receives, which opens the blocks in {@link #await}; a second answer or a
 * failure is an error.
 */
final class Answers implements BlockFetchingListener {
  private final Map<String, ManagedBuffer> blocks = new ConcurrentHashMap<>();
  private final Map<String, byte[]> bytes = new HashMap<>();
  private final CountDownLatch left;
  private volatile String wrong;

  Answers(int blocks) {
    left = new CountDownLatch(blocks);
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    answer(blockId, buffer.retain());
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    wrong = blockId + ": " + failure;
    left.countDown();
  }

  private void answer(String blockId, ManagedBuffer got) {
    if (blocks.put(blockId, got) != null) {
      wrong = blockId + " answered twice";
    }
    left.countDown();
  }

  Answers await() throws InterruptedException, IOException {
    assertThat(left.await(60, TimeUnit.SECONDS)).as("all blocks answered").isTrue();
    assertThat(wrong).isNull();
    for (Map.Entry<String, ManagedBuffer> block : blocks.entrySet()) {
      try (InputStream in = block.getValue().createInputStream()) {
        bytes.put(block.getKey(), in.readAllBytes());
      }
      block.getValue().release();
    }
    return this;
  }

  byte[] of(String blockId) {
    return bytes.get(blockId);
  }
}
