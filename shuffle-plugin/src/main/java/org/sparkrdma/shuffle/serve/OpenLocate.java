// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * A LOCATE that the {@link BlockServer} is answering, and the lease of its answer. Confined to the
 * agent.
 */
public final class OpenLocate {
  /**
   * What becomes of the LOCATEs of a connection: exactly one of {@link #answered} and {@link
   * #malformed} for each, and nothing after {@link BlockServer#onConnectionGone}. Called by the
   * agent.
   */
  public interface Replies {
    /** It waits: the buffer for the answer is free. */
    void suspended(OpenLocate locate);

    /** It can be answered: it must be given to {@link BlockServer#locate} again, with a buffer. */
    void resumed(OpenLocate locate);

    /** The answer is written. */
    void answered(OpenLocate locate, int lengthBytes);

    /** The request breaks the protocol, for the reason given. */
    void malformed(String reason);
  }

  private static final long NS_PER_MS = 1_000_000;

  private final Replies replies;
  private final long connection;
  private final long reader;
  private final int receive;
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
   * @param receive number of the receive at its connection that has the message
   * @param message that was received; not used again before the answer
   * @param arrivedNs time at which it was received, as that of the clock
   */
  public OpenLocate(
      Replies replies,
      long connection,
      long reader,
      int receive,
      ByteBuffer message,
      long arrivedNs) {
    this.replies = replies;
    this.connection = connection;
    this.reader = reader;
    this.receive = receive;
    this.message = message;
    this.arrivedNs = arrivedNs;
  }

  /** Sets the buffer for the answer, from index 0 on; before the server gets this. */
  public void setAnswer(ByteBuffer buffer) {
    answer = buffer;
  }

  /** The buffer for the answer. */
  public ByteBuffer answer() {
    return answer;
  }

  /** Number of the receive at its connection that has the message. */
  public int receive() {
    return receive;
  }

  Replies replies() {
    return replies;
  }

  long connection() {
    return connection;
  }

  long reader() {
    return reader;
  }

  long arrivedNs() {
    return arrivedNs;
  }

  /**
   * Decodes the message, which must be done first.
   *
   * @param maxWaitNs whatever time-out the message has
   */
  Locate decode(long maxWaitNs) {
    request = Locate.decode(message);
    deadlineNs = arrivedNs + Math.min(maxWaitNs, request.timeoutMs() * NS_PER_MS) / 2;
    return request;
  }

  Locate request() {
    return request;
  }

  /** The time at which it is answered with what there is: half of the reader's time-out. */
  long deadlineNs() {
    return deadlineNs;
  }

  /** What it waits for; null when it has not waited. */
  WaitingLocate waiting() {
    return waiting;
  }

  /**
   * It cannot be answered yet, and gives back the buffer for the answer. What it has been answered
   * so far stays held.
   *
   * @param share of its reader
   * @param roomBytes that the answer has left
   */
  WaitingLocate suspend(CopyMemory.Share share, int roomBytes) {
    waiting = new WaitingLocate(this, share, lease, roomBytes);
    lease = null;
    replies.suspended(this);
    return waiting;
  }

  /** Holds the memory of the answer that is being written. */
  Leases.Lease lease() {
    return lease;
  }

  /** Begins to write the answer. */
  void beginAnswer() {
    if (lease == null) {
      lease = new Leases.Lease(connection);
    }
  }
}
