// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * A fake of Spark's own client: answers at once by default. Like a connect, a call that waits fails
 * when its thread is interrupted. Safe for any thread.
 */
public class FakeSparkClient extends BlockStoreClient {
  /** One call of fetchBlocks. */
  public record Call(String host, int port, String executorId, List<String> blockIds) {}

  public final List<Call> calls = new ArrayList<>();
  public final Map<String, Throwable> failures = new ConcurrentHashMap<>();

  private final Map<String, CountDownLatch> held = new ConcurrentHashMap<>();
  private final Map<String, String> requesters = new HashMap<>();
  private final Function<String, ManagedBuffer> blocks;

  /** Threads of the calls. */
  public final Set<Thread> threads = ConcurrentHashMap.newKeySet();

  /** Thrown by one call each. */
  public final Queue<Exception> errors = new ConcurrentLinkedQueue<>();

  /** Number of blocks that a call answers before it throws. */
  public volatile int answersBeforeError;

  public volatile DownloadFileManager files;

  /** Of the last call. */
  public volatile BlockFetchingListener listener;

  /** Answers with zeros. */
  public FakeSparkClient() {
    this(blockId -> new NioManagedBuffer(ByteBuffer.allocate(10)));
  }

  /** Answers with these blocks. */
  public FakeSparkClient(Function<String, ManagedBuffer> blocks) {
    this.blocks = blocks;
  }

  /** Calls for this host wait from now on. */
  public void hold(String host) {
    held.put(host, new CountDownLatch(1));
  }

  /** Ends the waits for a host. */
  public void release(String host) {
    held.get(host).countDown();
  }

  /** Ends all waits. */
  public void release() {
    held.values().forEach(CountDownLatch::countDown);
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    synchronized (calls) {
      calls.add(new Call(host, port, executorId, List.of(blockIds)));
      for (String blockId : blockIds) {
        requesters.put(blockId, Thread.currentThread().getName());
      }
      calls.notifyAll();
    }
    threads.add(Thread.currentThread());
    this.files = files;
    this.listener = listener;
    CountDownLatch hold = held.get(host);
    if (hold != null) {
      await(hold);
    }
    Exception error = errors.poll();
    int count = error == null ? blockIds.length : answersBeforeError;
    for (String blockId : List.of(blockIds).subList(0, count)) {
      Throwable failure = failures.get(blockId);
      if (failure == null) {
        listener.onBlockFetchSuccess(blockId, blocks.apply(blockId));
      } else {
        listener.onBlockFetchFailure(blockId, failure);
      }
    }
    if (error != null) {
      throw TaskOutputs.<RuntimeException>unchecked(error);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** Waits until so many calls have begun. */
  public void awaitCalls(int count) throws InterruptedException {
    synchronized (calls) {
      while (calls.size() < count) {
        calls.wait();
      }
    }
  }

  /** Name of the thread that has requested a block; null without a request. */
  public String requester(String blockId) {
    synchronized (calls) {
      return requesters.get(blockId);
    }
  }

  /** Waits until a block is requested; returns the name of the calling thread. */
  public String awaitRequest(String blockId) throws InterruptedException {
    synchronized (calls) {
      while (!requesters.containsKey(blockId)) {
        calls.wait();
      }
      return requesters.get(blockId);
    }
  }

  /** Blocks requested so far. */
  public int blocksFetched() {
    return calls().stream().mapToInt(call -> call.blockIds().size()).sum();
  }

  public List<Call> calls() {
    synchronized (calls) {
      return List.copyOf(calls);
    }
  }

  @Override
  public void close() {}
}
