// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.concurrent.locks.ReentrantLock;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.cm.Connection;

/**
 * The send queue of a queue pair; {@code MemoryShares} has its length. Its lock guards posting,
 * retiring, breaking and destroying, and what {@link LocateSender} says, so that a task may post
 * while the agent polls. {@link #retire}, {@link #markBroken} and {@link #destroy} take it; the
 * others need it, but {@link #retiredUse}.
 *
 * <p>Work requests have consecutive numbers as their ids, and receives negative ones. They complete
 * in order, so a completion of number n retires all up to n. The last READ of a post is signalled,
 * one in each quarter of the queue, and one after each 256 KiB at most, so that blocks are
 * delivered while later ones are read.
 */
final class SendQueue {
  private static final long RECEIVE = 1L << 63;
  private static final int MAX_GATHERED = 16;
  private static final long SIGNAL_BYTES = 1 << 18;

  private final ReentrantLock lock = new ReentrantLock();
  private final QueuePair queuePair;
  private final int depth;

  /** What each work request is for, by their numbers. */
  private final Object[] uses;

  /** The same of those that {@link #retire} has retired; confined to the agent. */
  private final Object[] retiredUses;

  private final WorkRequest[] gathered = new WorkRequest[MAX_GATHERED];
  private int gatheredCount;
  private long added;
  private long retired;
  private int unsignalled;
  private long unsignalledBytes;
  private long progressNs;
  private boolean broken;

  SendQueue(QueuePair queuePair, int depth) {
    this.queuePair = queuePair;
    this.depth = depth;
    this.uses = new Object[depth];
    this.retiredUses = new Object[depth];
    for (int i = 0; i < MAX_GATHERED; i++) {
      gathered[i] = new WorkRequest(1);
    }
  }

  static long receiveId(int buffer) {
    return RECEIVE | buffer;
  }

  static boolean isReceive(long id) {
    return id < 0;
  }

  void lock() {
    lock.lock();
  }

  boolean tryLock() {
    return lock.tryLock();
  }

  void unlock() {
    lock.unlock();
  }

  /** Number of requests that can be added. */
  int room() {
    assert lock.isHeldByCurrentThread();
    return broken ? 0 : depth - (int) (added - retired);
  }

  /** Adds a SEND and posts it with all others; there must be room. */
  void send(RegisteredChunk buffer, int lengthBytes, Object use, long nowNs) {
    next(use, nowNs)
        .send(added)
        .local(buffer.region(), buffer.regionOffset(), lengthBytes)
        .signalled();
    added++;
    unsignalled = 0;
    unsignalledBytes = 0;
    post();
  }

  /** Adds a READ of a batch, which {@link #post} posts; there must be room. */
  void addRead(ReadBatch batch, int read, long nowNs) {
    WorkRequest request = next(batch, nowNs);
    batch.write(read, request, added);
    added++;
    unsignalled++;
    unsignalledBytes += batch.lengthBytes(read);
    if (unsignalled >= depth / 4 || unsignalledBytes >= SIGNAL_BYTES) {
      request.signalled();
      unsignalled = 0;
      unsignalledBytes = 0;
    }
    if (gatheredCount == MAX_GATHERED) {
      post();
    }
  }

  private WorkRequest next(Object use, long nowNs) {
    if (room() <= 0 || gatheredCount == MAX_GATHERED) {
      throw new IllegalStateException("send queue full: depth=" + depth);
    }
    if (added == retired) {
      progressNs = nowNs;
    }
    uses[(int) (added % depth)] = use;
    return gathered[gatheredCount++];
  }

  /** Whether another READ can be gathered. */
  boolean canGather() {
    return gatheredCount < MAX_GATHERED;
  }

  /**
   * Posts what was added with one call. Requests that the device does not take, because it reports
   * a full queue although the depth is not reached, are posted by the next call.
   */
  void post() {
    assert lock.isHeldByCurrentThread();
    if (gatheredCount == 0 || broken) {
      return;
    }
    WorkRequest last = gathered[gatheredCount - 1];
    if (!last.isSignalled()) {
      last.signalled();
      unsignalled = 0;
      unsignalledBytes = 0;
    }
    int posted = queuePair.postSend(gathered, 0, gatheredCount);
    int left = gatheredCount - posted;
    for (int i = 0; i < left && posted > 0; i++) {
      WorkRequest first = gathered[i];
      gathered[i] = gathered[posted + i];
      gathered[posted + i] = first;
    }
    gatheredCount = left;
  }

  /**
   * Retires the request with this id and all earlier ones. The agent.
   *
   * @return number of requests, whose uses are in {@link #retiredUse}
   */
  int retire(long id, long nowNs) {
    lock.lock();
    try {
      int count = (int) (id - retired) + 1;
      for (int i = 0; i < count; i++) {
        int at = (int) (retired % depth);
        retiredUses[i] = uses[at];
        uses[at] = null;
        retired++;
      }
      progressNs = nowNs;
      post();
      return count;
    } finally {
      lock.unlock();
    }
  }

  /** What the {@code i}-th request was for that was retired last. The agent. */
  Object retiredUse(int i) {
    Object use = retiredUses[i];
    retiredUses[i] = null;
    return use;
  }

  /** Whether requests are outstanding and none has completed for this long. */
  boolean isStalled(long nowNs, long timeoutNs) {
    assert lock.isHeldByCurrentThread();
    return added != retired && nowNs - progressNs > timeoutNs;
  }

  /** Nothing more is posted. */
  void markBroken() {
    lock.lock();
    try {
      broken = true;
    } finally {
      lock.unlock();
    }
  }

  /** Destroys the queue pair with its connection; no thread posts meanwhile or afterwards. */
  void destroy(Connection connection) {
    lock.lock();
    try {
      broken = true;
      connection.close();
    } finally {
      lock.unlock();
    }
  }
}
