// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * A request for blocks by TCP. Once it exists nothing else is allocated until it is issued. Owned
 * by the thread that issues it, one at a time; before that by its creator.
 */
final class TcpRequest {
  private final PeerAddress peer;
  private final int stage;
  private final BlocksToFetch blocks;
  private final DownloadFileManager files;
  private BlockFetchingListener listener;
  private boolean peerHasAnswered;

  /** The thread of the task that asked for all its blocks; null where a queue must issue it. */
  private Thread asking;

  /** Null until the blocks are taken. */
  private String[] blockIds;

  /** Null until Spark's client can be called. */
  private TcpAnswers answers;

  /** The next one in a queue; guarded by the queue. */
  TcpRequest next;

  /**
   * @param stage whose task reads, as in {@link org.sparkrdma.shuffle.metrics.StageReads}
   * @param listener receives exactly one answer for each block, including Spark's own failures
   * @param files for blocks that are too large for memory; null for memory
   */
  TcpRequest(
      PeerAddress peer,
      int stage,
      BlocksToFetch blocks,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    this.peer = peer;
    this.stage = stage;
    this.blocks = blocks;
    this.listener = listener;
    this.files = files;
  }

  PeerAddress peer() {
    return peer;
  }

  /** Another listener receives the answers; before it is queued. */
  void answerTo(BlockFetchingListener other) {
    listener = other;
  }

  /** Records whether the peer has just answered by RDMA; before it is queued. */
  void peerHasAnswered(boolean answered) {
    peerHasAnswered = answered;
  }

  /**
   * Lets the thread of a task issue the request itself: it asked for all blocks of the request and
   * would wait for them. Others must not wait, or would wait for each block; before it is queued.
   *
   * @param thread null for none
   */
  void askedBy(Thread thread) {
    asking = thread;
  }

  /** Whether the calling thread may wait for a connect. */
  boolean isAskedHere() {
    return asking == Thread.currentThread();
  }

  /** Whether the peer has just answered by RDMA, so that its host is alive. */
  boolean hasPeerAnswered() {
    return peerHasAnswered;
  }

  /**
   * Requests the blocks from Spark's client; after it has thrown, those without an answer. When it
   * throws, {@link #fail} must follow unless it is called again.
   */
  void issue(BlockStoreClient client, ShuffleCounters counters) {
    if (blockIds == null) {
      blockIds = blocks.take();
    }
    if (blockIds.length == 0) {
      return;
    }
    if (answers == null) {
      answers = new TcpAnswers(blockIds, stage, listener, counters);
    }
    String[] open = answers.open();
    if (open.length > 0) {
      client.fetchBlocks(
          peer.host(), peer.port(), peer.executorId(), open, answers.newAttempt(), files);
    }
  }

  /**
   * Answers every block without an answer. Never throws. Allocates nothing, because memory may be
   * what has failed.
   */
  void fail(Throwable failure) {
    if (answers != null) {
      answers.failRest(failure);
    } else if (blockIds != null) {
      for (String blockId : blockIds) {
        SafeListener.fail(listener, blockId, failure);
      }
    } else {
      // Its creator may use this object again from here on.
      blocks.fail(failure);
    }
  }
}
