// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * A LOCATE that the {@link BlockServer} is answering, and what it holds until then: the lease of
 * its answer, and the entries that it needs. A LOCATE that waits for a disk holds no buffer for its
 * answer.
 *
 * <pre>
 *  ARRIVED ──► WAITING ──► RESUMED     whatever its state, it may be answered or dropped
 *                 waits for loads; resumed when nothing loads any more, or at its deadline
 * </pre>
 *
 * <p>The server calls exactly one of {@link #answered} and {@link #malformed}, and nothing after
 * {@link BlockServer#onConnectionGone}. Confined to the agent.
 */
public abstract class OpenLocate {
  private enum State {
    ARRIVED,
    WAITING,
    RESUMED
  }

  private static final long NS_PER_MS = 1_000_000;

  private final long connection;
  private final ByteBuffer message;
  private final long arrivedNs;
  private State state = State.ARRIVED;
  private ByteBuffer answer;
  private Locate request;
  private long deadlineNs;
  private Leases.Lease lease;
  private List<CacheEntry> kept = List.of();
  private int loading;
  private long wantedBytes;

  /** The lease of the answer that was written before it waited. */
  private Leases.Lease earlierLease;

  /**
   * @param connection number of its connection, which owns its leases
   * @param message that was received; not used again before the answer
   * @param arrivedNs time at which it was received, as that of the clock
   */
  protected OpenLocate(long connection, ByteBuffer message, long arrivedNs) {
    this.connection = connection;
    this.message = message;
    this.arrivedNs = arrivedNs;
  }

  /** Sets the buffer for the answer, from index 0 on; before the server gets this. */
  protected final void setAnswer(ByteBuffer buffer) {
    answer = buffer;
  }

  /** It waits for a disk: the buffer for the answer is free. */
  protected abstract void suspended();

  /** It can be answered: it must be given to {@link BlockServer#locate} again, with a buffer. */
  protected abstract void resumed();

  /** The answer is written. */
  protected abstract void answered(int lengthBytes);

  /** The request breaks the protocol, for the reason given. */
  protected abstract void malformed(String reason);

  final long connection() {
    return connection;
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
    deadlineNs = arrivedNs + request.timeoutMs() * NS_PER_MS / 2;
    return request;
  }

  final Locate request() {
    return request;
  }

  /** The time at which it is answered with what there is: half of the reader's time-out. */
  final long deadlineNs() {
    return deadlineNs;
  }

  /** Whether the server has it for the first time. */
  final boolean isNew() {
    return state == State.ARRIVED;
  }

  /** Whether it waits for loads. */
  final boolean isWaiting() {
    return state == State.WAITING;
  }

  /** Waits until it is resumed. */
  final void suspend() {
    state = State.WAITING;
    suspended();
  }

  /** Nothing that it waits for loads any more, or its time is over. */
  final void resume() {
    state = State.RESUMED;
    loading = 0;
    resumed();
  }

  /** Holds the ranges of the answer that is being written. */
  final Leases.Lease lease() {
    return lease;
  }

  /** Number of loads that it waits for, one for each block that needs it. */
  final int loading() {
    return loading;
  }

  /** Length of the ranges that the answer has or waits for. */
  final long wantedBytes() {
    return wantedBytes;
  }

  final void addWanted(long lengthBytes) {
    wantedBytes += lengthBytes;
  }

  /** Begins to write the answer, perhaps for the second time. */
  final void beginAnswer() {
    earlierLease = lease;
    lease = new Leases.Lease(connection);
  }

  /**
   * Keeps an entry until the answer, loaded or not: also a failed one is not loaded again.
   *
   * @param block needs it
   * @param wanted length of what the answer has of it
   */
  final void keep(CacheEntry entry, int block, long wanted) {
    wantedBytes += wanted;
    if (kept.isEmpty()) {
      kept = new ArrayList<>();
    }
    if (entry.hold(kept)) {
      kept.add(entry);
    }
    if (entry.isLoading()) {
      entry.addWaiter(this, block, wanted);
      loading++;
    }
  }

  /** Whether a map output that it keeps was removed with its shuffle: others stay cached. */
  final boolean keepsRemoved() {
    return kept.stream().anyMatch(entry -> entry instanceof CachedOutput of && of.isRemoved());
  }

  /** An entry that it waits for has loaded; if that has failed, the answer has nothing of it. */
  final void onLoaded(CacheEntry entry, long wanted) {
    loading -= isWaiting() ? 1 : 0;
    wantedBytes -= entry.isFailed() ? wanted : 0;
  }

  /**
   * The answer is written: only its lease remains. What it has held before is released after the
   * lease holds it, so that it stays cached.
   */
  final void endWait(long nowNs) {
    if (earlierLease != null) {
      earlierLease.end(nowNs);
      earlierLease = null;
    }
    for (CacheEntry entry : kept) {
      entry.removeWaiter(this);
      entry.release(nowNs);
    }
    if (!kept.isEmpty()) {
      // An entry remembers the list that has held it last.
      kept.clear();
      kept = List.of();
    }
  }

  /** Its connection has ended: it waits for nothing and holds nothing any more. */
  final void drop(long nowNs) {
    state = State.RESUMED;
    beginAnswer();
    endWait(nowNs);
  }
}
