// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;

/**
 * One end of a connection: the messages that it receives, and the completions of what it has sent.
 * Its life, which is that of its queue pair, is in {@link RdmaConnection}. Confined to the agent,
 * but for the send queue, which has a lock.
 */
abstract class MessageConnection {
  /** State of a connection. */
  enum State {
    /** Reader: the address is being resolved. */
    RESOLVING,
    /** Another thread creates the queue pair. */
    CREATING,
    /** Reader: the queue pair is being connected. */
    CONNECTING,
    /** The queue pair is connected, and the peer is not proven. */
    PROVING,
    ESTABLISHED,
    /** Waits for its end; nothing is posted. */
    BROKEN,
    CLOSED
  }

  protected final AgentResources shared;
  protected SendQueue sends;
  protected QueuePair queuePair;
  protected long lastUsedNs;

  /** First those of receives. */
  protected RegisteredChunk[] buffers = {};

  /** Views of the buffers of receives. */
  protected ByteBuffer[] messages = {};

  private final WorkRequest receive = new WorkRequest(1);
  private volatile State state;

  MessageConnection(AgentResources shared, State first, long nowNs) {
    this.shared = shared;
    this.state = first;
    this.lastUsedNs = nowNs;
  }

  final State state() {
    return state;
  }

  final boolean isUsable() {
    return state == State.ESTABLISHED;
  }

  final boolean hasEnded() {
    return state == State.BROKEN || state == State.CLOSED;
  }

  protected final void move(State to) {
    state = to;
  }

  protected final RegisteredChunk buffer(int i) {
    return buffers[i];
  }

  protected final void postReceive(int buffer) {
    RegisteredChunk chunk = buffer(buffer);
    receive
        .receive(SendQueue.receiveId(buffer))
        .local(chunk.region(), chunk.regionOffset(), chunk.lengthBytes());
    if (!queuePair.postReceive(receive)) {
      markBroken(FallbackReason.LOST_PEER, "the device takes no receive");
    }
  }

  /** Handles a completion of its queue pair. */
  final void onCompletion(WorkCompletion completion) {
    if (hasEnded()) {
      return;
    }
    long id = completion.requestId();
    long nowNs = shared.work().nowNs();
    if (!completion.succeeded()) {
      onFailedCompletion(completion, SendQueue.isReceive(id));
    } else if (SendQueue.isReceive(id)) {
      lastUsedNs = nowNs;
      receive((int) id, (int) completion.byteLength(), nowNs);
    } else {
      int count = sends.retire(id, nowNs);
      for (int i = 0; i < count; i++) {
        onRetired(sends.retiredUse(i), nowNs);
      }
    }
  }

  /**
   * A queue pair that is rejected flushes its receives before the event that says why. iWARP
   * reports nearly every error as a flush, and a message that is too long by one of two statuses.
   */
  private void onFailedCompletion(WorkCompletion completion, boolean ofReceive) {
    if (state() == State.CONNECTING) {
      return;
    }
    boolean tooLong =
        ofReceive
            && (completion.status() == WorkStatus.LOCAL_LENGTH_ERROR
                || completion.status() == WorkStatus.LOCAL_QUEUE_PAIR_ERROR);
    if (tooLong) {
      onProtocolError("message longer than its buffer");
    } else {
      boolean lost = ofReceive || completion.status() == WorkStatus.FLUSH_ERROR;
      FallbackReason ofUsable = lost ? FallbackReason.LOST_PEER : FallbackReason.READ_ERROR;
      markBroken(
          isUsable() ? ofUsable : FallbackReason.CONNECT_FAILED,
          "completion: " + completion.status() + " vendorError=" + completion.vendorError());
    }
  }

  private void receive(int buffer, int lengthBytes, long nowNs) {
    try {
      onMessage(buffer, messages[buffer].clear().limit(lengthBytes), nowNs);
    } catch (MalformedMessageException e) {
      onProtocolError(e.getMessage());
    } catch (VerbsException e) {
      markBroken(FallbackReason.LOST_PEER, e.getMessage());
    }
  }

  protected final void onProtocolError(String detail) {
    shared.counters().increment(Counter.PROTOCOL_ERRORS);
    markBroken(FallbackReason.PROTOCOL_ERROR, detail);
  }

  /** A message was received; its buffer must be posted again. */
  protected abstract void onMessage(int buffer, ByteBuffer message, long nowNs)
      throws VerbsException;

  /** A work request for this use has completed. */
  protected abstract void onRetired(Object use, long nowNs);

  /** Ends it soon, for this reason, which is a fault unless it is null; once. */
  abstract void markBroken(FallbackReason reason, String detail);
}
