// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * A double of Spark's own client: answers each block on the caller's thread, as soon as its host is
 * not held. Like a connect, a call that waits fails when its thread is interrupted. Safe for any
 * thread.
 */
final class HeldSparkClient extends BlockStoreClient {
  private static final int BLOCK_BYTES = 8;

  private final Set<String> held = new HashSet<>();
  private final Map<String, String> threads = new HashMap<>();

  /** Calls for this host wait from now on. */
  synchronized void hold(String host) {
    held.add(host);
  }

  /** Ends all waits. */
  synchronized void release() {
    held.clear();
    notifyAll();
  }

  /** Name of the thread that has requested a block; null without a request. */
  synchronized String requester(String blockId) {
    return threads.get(blockId);
  }

  /** Waits until a block is requested; returns the name of the calling thread. */
  synchronized String awaitRequest(String blockId) throws InterruptedException {
    while (!threads.containsKey(blockId)) {
      wait();
    }
    return threads.get(blockId);
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    begin(host, List.of(blockIds));
    for (String blockId : blockIds) {
      listener.onBlockFetchSuccess(blockId, new NioManagedBuffer(ByteBuffer.allocate(BLOCK_BYTES)));
    }
  }

  private synchronized void begin(String host, List<String> blockIds) {
    blockIds.forEach(blockId -> threads.put(blockId, Thread.currentThread().getName()));
    notifyAll();
    try {
      while (held.contains(host)) {
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public void close() {}
}
