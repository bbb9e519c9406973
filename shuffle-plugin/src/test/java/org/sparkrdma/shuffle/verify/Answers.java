// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/** The bytes that a task receives; a second answer or a failure is an error. */
final class Answers implements BlockFetchingListener {
  private static final byte[] FAILED = {};
  private final Map<String, byte[]> bytes = new ConcurrentHashMap<>();
  private final CountDownLatch left;
  private volatile String wrong;

  Answers(int blocks) {
    left = new CountDownLatch(blocks);
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    try (InputStream in = buffer.createInputStream()) {
      answer(blockId, in.readAllBytes());
    } catch (IOException e) {
      wrong = blockId + ": " + e;
    }
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    wrong = blockId + ": " + failure;
    answer(blockId, FAILED);
  }

  private void answer(String blockId, byte[] got) {
    if (bytes.put(blockId, got) != null) {
      wrong = blockId + " answered twice";
    }
    left.countDown();
  }

  Answers await() throws InterruptedException {
    assertThat(left.await(60, TimeUnit.SECONDS)).as("all blocks answered").isTrue();
    assertThat(wrong).isNull();
    return this;
  }

  byte[] of(String blockId) {
    return bytes.get(blockId);
  }
}
