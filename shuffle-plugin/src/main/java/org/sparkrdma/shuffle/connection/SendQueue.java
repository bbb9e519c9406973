/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.connection;

import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.WorkRequest;

/**
 * The send side of a queue pair: gathers work requests, posts them together, and knows what is done
 * when a completion comes. Owned by the agent.
 *
 * <p>Requests get consecutive numbers as their ids. Sends complete in order, so a completion of
 * number n says that all up to n are done, and only the last READ of a batch, and one now and then,
 * at least after each MiB, need be signalled: who watches the peer wants to see progress.
 */
final class SendQueue {
  private static final long SIGNAL_BYTES = 1 << 20;

  private final QueuePair queuePair;
  private final long idBits;
  private final int depth;
  private final int signalEvery;
  private final Posted[] ring;
  private final WorkRequest[] gathered;
  private int gatheredCount;
  private long added;
  private long retired;
  private int unsignalled;
  private long unsignalledBytes;

  /**
   * @param idBits what every id carries in its upper 32 bits, see {@link WorkIds}
   */
  SendQueue(QueuePair queuePair, int depth, long idBits) {
    this.queuePair = queuePair;
    this.depth = depth;
    this.idBits = idBits;
    this.signalEvery = Math.max(1, depth / 4);
    this.ring = new Posted[depth];
    this.gathered = new WorkRequest[depth];
    for (int i = 0; i < depth; i++) {
      gathered[i] = new WorkRequest(1);
    }
  }

  /** How many more requests fit. */
  int room() {
    return depth - (int) (added - retired);
  }

  /** Whether any request has not completed. */
  boolean hasOutstanding() {
    return added != retired;
  }

  /** Adds a SEND; there must be room. */
  void send(MemoryRegion region, long offset, int lengthBytes, Posted posted) {
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

  /** Adds a READ of no bytes, for which the peer's device needs no key; there must be room. */
  void probe(Posted posted) {
    next(posted).read(id(), 0, 0).signalled();
    signalled();
    added++;
  }

  private void signalled() {
    unsignalled = 0;
    unsignalledBytes = 0;
  }

  private WorkRequest next(Posted posted) {
    if (room() == 0) {
      throw new IllegalStateException("send queue full: depth=" + depth);
    }
    ring[(int) (added % depth)] = posted;
    return gathered[gatheredCount++];
  }

  private long id() {
    return idBits | (added & WorkIds.LOW_MASK);
  }

  /** Posts what was gathered, with one call. */
  void flush() {
    if (gatheredCount > 0) {
      int posted = queuePair.postSend(gathered, 0, gatheredCount);
      if (posted != gatheredCount) {
        throw new IllegalStateException(
            "queue pair took less than its depth: posted=" + posted + " of=" + gatheredCount);
      }
      gatheredCount = 0;
    }
  }

  /** A successful completion with this id: it and all before it are done. */
  void completed(long id) {
    int upTo = (int) id;
    while ((int) retired != upTo) {
      retireOne();
    }
    retireOne();
  }

  private void retireOne() {
    int place = (int) (retired % depth);
    Posted posted = ring[place];
    ring[place] = null;
    retired++;
    posted.done();
  }

  /** What a failed completion with this id was of; null when it is not outstanding. */
  Posted outstanding(long id) {
    long number = retired + Integer.toUnsignedLong((int) id - (int) retired);
    return number < added ? ring[(int) (number % depth)] : null;
  }
}
