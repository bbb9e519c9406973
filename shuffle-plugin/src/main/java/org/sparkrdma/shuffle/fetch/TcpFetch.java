// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.TaskContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.metrics.Counter;

/**
 * Forwards the answers of Spark's own client, one for each block, and counts them. Safe for any
 * thread.
 */
public final class TcpFetch implements BlockFetchingListener {
  private final FetchContext context;
  private final BlockManagerAddress peer;
  private final int stage;
  private final BlockFetchingListener listener;
  private final DownloadFileManager files;
  private final boolean fallback;

  /** Is given the time of the first block; null without, and from then on. */
  private TcpTime probed;

  private final long beganNs = System.nanoTime();

  /** Blocks without an answer. */
  private final Set<String> open;

  private long bytes;

  TcpFetch(
      FetchContext context,
      BlockManagerAddress peer,
      int stage,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files,
      boolean fallback,
      TcpTime probed) {
    this.probed = probed;
    this.context = context;
    this.peer = peer;
    this.stage = stage;
    this.listener = listener;
    this.files = files;
    this.fallback = fallback;
    this.open = new LinkedHashSet<>(Arrays.asList(blockIds));
  }

  /**
   * Fetches blocks by Spark's client, which may connect on the caller's thread. Each gets one
   * answer, also when the client throws. Where a method or field of Spark is missing, Spark's
   * client answers its listener itself; when this throws because of one, no block has been asked
   * for.
   *
   * @param stage whose task reads, as in {@link
   *     org.sparkrdma.shuffle.metrics.ShuffleCounters.StageReads}
   * @param files for blocks that Spark wants on disk; null for memory
   * @param fallback whether reader and peer use RDMA
   * @param probed is given the time until the first block; null without
   */
  public static void fetch(
      FetchContext context,
      BlockManagerAddress peer,
      int stage,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files,
      boolean fallback,
      TcpTime probed) {
    if (blockIds.length == 0) {
      return;
    }
    TcpFetch answers =
        new TcpFetch(context, peer, stage, blockIds, listener, files, fallback, probed);
    try {
      answers.ask(blockIds, context.missing().any() ? listener : answers);
    } catch (Exception | LinkageError e) {
      answers.failRest(e);
      keepInterrupt(e);
    }
  }

  /**
   * Spark's client throws checked exceptions, too. A task ends by the interrupt; other threads go
   * on. Spark's listener refuses answers from a thread with the flag.
   */
  private static void keepInterrupt(Throwable failure) {
    if (failure instanceof InterruptedException && TaskContext.get() != null) {
      Thread.currentThread().interrupt();
    }
  }

  private void ask(String[] blockIds, BlockFetchingListener to) {
    context.spark().fetchBlocks(peer.host(), peer.port(), peer.executorId(), blockIds, to, files);
  }

  /** Fails every block that has no answer yet. */
  void failRest(Throwable e) {
    List<String> rest;
    synchronized (this) {
      rest = List.copyOf(open);
    }
    rest.forEach(blockId -> onBlockFetchFailure(blockId, e));
  }

  /** The last answer adds the bytes of all to the stage, before Spark can end the task. */
  private synchronized boolean close(String blockId, long blockBytes) {
    boolean first = open.remove(blockId);
    if (probed != null && first && blockBytes > 0) {
      probed.add(System.nanoTime() - beganNs);
      probed = null;
    }
    bytes += first ? blockBytes : 0;
    if (first && open.isEmpty()) {
      context.counters().stages().add(stage, 0, 0, bytes);
    }
    return first;
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    try {
      long blockBytes = buffer.size();
      if (close(blockId, blockBytes)) {
        context.counters().increment(Counter.TCP_BLOCKS_READ);
        context.counters().add(Counter.TCP_BYTES_READ, blockBytes);
        context.counters().add(Counter.FALLBACK_BYTES_READ, fallback ? blockBytes : 0);
        listener.onBlockFetchSuccess(blockId, buffer);
      }
    } catch (LinkageError e) {
      askAgain(blockId, e);
    }
  }

  /** Spark's client answers its listener itself; its connection is open. */
  private void askAgain(String blockId, LinkageError error) {
    try {
      context.missing().takeOrThrow(error);
      ask(new String[] {blockId}, listener);
    } catch (Exception | LinkageError e) {
      listener.onBlockFetchFailure(blockId, e);
      keepInterrupt(e);
    }
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    try {
      if (close(blockId, 0)) {
        listener.onBlockFetchFailure(blockId, failure);
      }
    } catch (LinkageError e) {
      askAgain(blockId, e);
    }
  }
}
