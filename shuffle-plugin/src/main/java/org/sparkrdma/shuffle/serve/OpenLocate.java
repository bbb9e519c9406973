// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * A LOCATE that the {@link BlockServer} is answering, and the lease of its answer. The server calls
 * exactly one of {@link #answered} and {@link #malformed}, and nothing after {@link
 * BlockServer#onConnectionGone}. Confined to the agent.
 */
public abstract class OpenLocate {
  private static final long NS_PER_MS = 1_000_000;

  private final long connection;
  private final long reader;
  private final ByteBuffer message;
  private final long arrivedNs;
  private ByteBuffer answer;
  private Locate request;
  private long deadlineNs;
  private Leases.Lease lease;

  /** Null until it waits. */
  private WaitingLocate waiting;

  /**
   * @param connection number of its connection, which owns its leases
   * @param reader the identity that the reader has proven
   * @param message that was received; not used again before the answer
   * @param arrivedNs time at which it was received, as that of the clock
   */
  protected OpenLocate(long connection, long reader, ByteBuffer message, long arrivedNs) {
    this.connection = connection;
    this.reader = reader;
    this.message = message;
    this.arrivedNs = arrivedNs;
  }

  /** Sets the buffer for the answer, from index 0 on; before the server gets this. */
  protected final void setAnswer(ByteBuffer buffer) {
    answer = buffer;
  }

  /** It waits: the buffer for the answer is free. */
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

  final long reader() {
    return reader;
  }

  final long arrivedNs() {
    return arrivedNs;
  }

  /** The message that was received. */
  public final ByteBuffer message() {
    return message;
  }

  /** The buffer for the answer. */
  protected final ByteBuffer answer() {
    return answer;
  }

  /**
   * Decodes the message, which must be done first.
   *
   * @param maxWaitNs whatever time-out the message has
   */
  final Locate decode(long maxWaitNs) {
    request = Locate.decode(message);
    deadlineNs = arrivedNs + Math.min(maxWaitNs, request.timeoutMs() * NS_PER_MS) / 2;
    return request;
  }

  final Locate request() {
    return request;
  }

  /** The time at which it is answered with what there is: half of the reader's time-out. */
  final long deadlineNs() {
    return deadlineNs;
  }

  /** What it waits for; null when it has not waited. */
  final WaitingLocate waiting() {
    return waiting;
  }

  /**
   * It cannot be answered yet, and is about to be {@link #suspended}. What it has been answered so
   * far stays held.
   *
   * @param share of its reader
   */
  final WaitingLocate beginWait(CopyMemory.Share share) {
    waiting = new WaitingLocate(this, share, lease);
    lease = null;
    return waiting;
  }

  /** Holds the memory of the answer that is being written. */
  final Leases.Lease lease() {
    return lease;
  }

  /** Begins to write the answer. */
  final void beginAnswer() {
    if (lease == null) {
      lease = new Leases.Lease(connection);
    }
  }
}
