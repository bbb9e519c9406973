// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * A LOCATE that the {@link BlockServer} is answering, and what it holds until then: the lease of
 * its answer, and the entries that load. The server calls exactly one of {@link #answered} and
 * {@link #malformed}, and neither after {@link BlockServer#onPeerGone}. Confined to the agent.
 */
public abstract class OpenLocate {
  private final long peer;
  private final ByteBuffer message;
  private ByteBuffer answer;
  private Locate request;
  private long deadlineNs;
  private Lease lease;
  private List<CacheEntry> awaited = List.of();
  private int loading;

  /** The lease of the answer that was written before, until the answer is written again. */
  private Lease earlierLease;

  private List<CacheEntry> earlierAwaited = List.of();

  /**
   * @param peer number of its connection, which owns its leases
   * @param message that was received; not used again before the answer
   */
  protected OpenLocate(long peer, ByteBuffer message) {
    this.peer = peer;
    this.message = message;
  }

  /** Sets the buffer for the answer, from index 0 on; before the server gets this. */
  protected final void setAnswer(ByteBuffer buffer) {
    answer = buffer;
  }

  /** The answer is written. */
  protected abstract void answered(int lengthBytes);

  /** The request breaks the protocol, for the reason given. */
  protected abstract void malformed(String reason);

  final long peer() {
    return peer;
  }

  /** The message that was received. */
  public final ByteBuffer message() {
    return message;
  }

  /** The buffer for the answer. */
  protected final ByteBuffer answer() {
    return answer;
  }

  /** Decodes the message, which must be done first. */
  final Locate decode() {
    request = Locate.decode(message);
    return request;
  }

  final Locate request() {
    return request;
  }

  /** Sets the time at which it is answered with what there is. */
  final void setDeadline(long newDeadlineNs) {
    deadlineNs = newDeadlineNs;
  }

  final long deadlineNs() {
    return deadlineNs;
  }

  /** Holds the ranges of the answer that is being written. */
  final Lease lease() {
    return lease;
  }

  /** Number of entries that it waits for. */
  final int loading() {
    return loading;
  }

  /** Begins to write the answer, perhaps again. */
  final void begin() {
    earlierLease = lease;
    earlierAwaited = awaited;
    lease = new Lease(peer);
    awaited = List.of();
    loading = 0;
  }

  /** The answer is written: what it has held before is released now, so that it stays cached. */
  final void releaseEarlier(long nowNs) {
    if (earlierLease != null) {
      earlierLease.end(nowNs);
      earlierLease = null;
    }
    release(earlierAwaited, nowNs);
    earlierAwaited = List.of();
  }

  private void release(List<CacheEntry> entries, long nowNs) {
    for (CacheEntry entry : entries) {
      entry.removeWaiter(this);
      entry.release(nowNs);
    }
  }

  /** Keeps an entry that is not ready until the answer: also a failed one is not loaded again. */
  final void await(CacheEntry entry) {
    if (awaited.isEmpty()) {
      awaited = new ArrayList<>();
    }
    if (entry.hold(awaited)) {
      awaited.add(entry);
      if (entry.isLoading()) {
        entry.addWaiter(this);
        loading++;
      }
    }
  }

  /** An entry has loaded; returns whether it was the last one. */
  final boolean onLoaded() {
    loading--;
    return loading == 0;
  }

  /** It is answered: only its lease remains. */
  final void endWait(long nowNs) {
    release(awaited, nowNs);
    awaited = List.of();
  }

  /** Its connection has ended: it holds nothing any more. */
  final void drop(long nowNs) {
    begin();
    releaseEarlier(nowNs);
  }
}
