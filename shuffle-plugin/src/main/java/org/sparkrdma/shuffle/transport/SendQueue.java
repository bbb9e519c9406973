// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.WorkRequest;

/**
 * The send queue of a queue pair: gathers work requests, posts them together, and maps a completion
 * to the completed requests. Owned by the agent.
 *
 * <p>Requests get consecutive numbers as their ids. Sends complete in order, so a completion of
 * number n completes all up to n. The last READ of a batch is signalled, one in each quarter of the
 * queue, and one after each 256 KiB at most, so that blocks are delivered while later ones are read
 * and {@link PeerWatch} sees progress.
 */
final class SendQueue {
  /** Bytes of READs after which one is signalled. */
  static final long SIGNAL_BYTES = 1 << 18;

  private final QueuePair queuePair;
  private final long idBits;
  private final int depth;
  private final int signalEvery;
  private final PostedRequest[] ring;
  private final WorkRequest[] gathered;
  private int gatheredCount;
  private long added;
  private long retired;
  private int unsignalled;
  private long unsignalledBytes;
  private boolean progressChecked;
  private long retiredAtCheck;
  private long progressNs;

  /**
   * @param idBits upper 32 bits of every id, see {@link WorkIds}
   */
  SendQueue(QueuePair queuePair, int depth, long idBits) {
    this.queuePair = queuePair;
    this.depth = depth;
    this.idBits = idBits;
    this.signalEvery = Math.max(1, depth / 4);
    this.ring = new PostedRequest[depth];
    this.gathered = new WorkRequest[depth];
    for (int i = 0; i < depth; i++) {
      gathered[i] = new WorkRequest(1);
    }
  }

  /** Number of requests that still fit. */
  int room() {
    return depth - (int) (added - retired);
  }

  /** Whether any request has not completed. */
  boolean hasOutstanding() {
    return added != retired;
  }

  /** Notes whether requests have completed since the last call. */
  void noteProgress(long nowNs) {
    if (!progressChecked || retired != retiredAtCheck) {
      progressChecked = true;
      retiredAtCheck = retired;
      progressNs = nowNs;
    }
  }

  /**
   * Whether requests are outstanding and none has completed for this long, as when the peer posts
   * no receives. The time counts from the first {@link #noteProgress} without progress.
   */
  boolean hasStalled(long nowNs, long timeoutNs) {
    return progressChecked && hasOutstanding() && nowNs - progressNs > timeoutNs;
  }

  /** Adds a SEND; there must be room. */
  void send(MemoryRegion region, long offset, int lengthBytes, PostedRequest posted) {
    next(posted).send(id()).local(region, offset, lengthBytes).signalled();
    signalled();
    added++;
  }

  /** Adds a READ; there must be room. */
  void read(ReadOperation read, boolean last) {
    WorkRequest request = next(read).read(id(), read.remoteAddress(), read.remoteKey());
    request.local(read.region(), read.regionOffset(), read.lengthBytes());
    unsignalled++;
    unsignalledBytes += read.lengthBytes();
    if (last || unsignalled >= signalEvery || unsignalledBytes >= SIGNAL_BYTES) {
      request.signalled();
      signalled();
    }
    added++;
  }

  /** Adds a zero-length READ, which needs no remote key; there must be room. */
  void probe(PostedRequest posted) {
    next(posted).read(id(), 0, 0).signalled();
    signalled();
    added++;
  }

  private void signalled() {
    unsignalled = 0;
    unsignalledBytes = 0;
  }

  private WorkRequest next(PostedRequest posted) {
    if (room() == 0) {
      throw new IllegalStateException("send queue full: depth=" + depth);
    }
    progressChecked &= hasOutstanding();
    ring[(int) (added % depth)] = posted;
    return gathered[gatheredCount++];
  }

  private long id() {
    return idBits | (added & WorkIds.LOW_MASK);
  }

  /**
   * Posts all gathered requests with one call. Requests that the device does not take, because it
   * reports a full queue although the depth is not reached, are posted by the next call; it comes
   * with the next turn of the connection. {@link #hasStalled} ends a connection whose device takes
   * none for long.
   */
  void flush() {
    if (gatheredCount > 0) {
      int posted = queuePair.postSend(gathered, 0, gatheredCount);
      int left = gatheredCount - posted;
      for (int i = 0; i < left && posted > 0; i++) {
        WorkRequest first = gathered[i];
        gathered[i] = gathered[posted + i];
        gathered[posted + i] = first;
      }
      gatheredCount = left;
    }
  }

  /** Retires the request with this id and all earlier ones. */
  void completed(long id) {
    int upTo = (int) id;
    while ((int) retired != upTo) {
      retireOne();
    }
    retireOne();
  }

  private void retireOne() {
    int index = (int) (retired % depth);
    PostedRequest posted = ring[index];
    ring[index] = null;
    retired++;
    posted.done();
  }

  /** The outstanding request with this id, or null. */
  PostedRequest outstanding(long id) {
    long number = retired + Integer.toUnsignedLong((int) id - (int) retired);
    return number < added ? ring[(int) (number % depth)] : null;
  }
}
