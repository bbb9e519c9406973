// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.MessageType;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;

/**
 * Handles the completions of a connection's queue pair: passes a message to the set-up, to the
 * fetching or to the serving half, and marks the connection broken by a failure. Owned by the
 * agent.
 */
final class ConnectionCompletions {
  private final PeerConnection connection;
  private final TransportContext context;
  private final ConnectionSetup setup;
  private final SetupExchange exchange;
  private final ConnectionBuffers buffers;
  private final ConnectionQueues queues;
  private final FetchSide fetches;
  private final ServeSide serves;

  ConnectionCompletions(
      PeerConnection connection,
      TransportContext context,
      ConnectionSetup setup,
      SetupExchange exchange,
      ConnectionBuffers buffers,
      ConnectionQueues queues,
      FetchSide fetches,
      ServeSide serves) {
    this.connection = connection;
    this.context = context;
    this.setup = setup;
    this.exchange = exchange;
    this.buffers = buffers;
    this.queues = queues;
    this.fetches = fetches;
    this.serves = serves;
  }

  /** Handles a completion of the queue pair. */
  void onCompletion(WorkCompletion completion, long nowNs) {
    long id = completion.requestId();
    if (!completion.succeeded()) {
      // Whole blocks that were read before, if they are worth a hand-over, are not at fault.
      fetches.deliverWholeBlocks();
      fail(completion.status(), id);
    } else if (WorkIds.isReceive(id)) {
      ControlBuffer received = queues.receives().completed(id);
      if (connection.broken() == null || setup.isAttempt()) {
        // The message may be the refusal that a disconnect event has overtaken.
        onMessage(received, (int) completion.byteLength(), nowNs);
      }
    } else {
      queues.sends().completed(id);
    }
  }

  private void fail(WorkStatus status, long id) {
    if (setup.isAttempt() || setup.state() == ConnectionSetup.State.REFUSED) {
      // A refusal flushes the receives. On iWARP the flush may arrive before the refusal, which
      // contains the reason. Every attempt ends with an event.
      return;
    }
    if (WorkIds.isReceive(id) && isMessageTooLong(status)) {
      countProtocolError("message longer than its buffer");
      return;
    }
    PostedRequest failed = WorkIds.isReceive(id) ? null : queues.sends().outstanding(id);
    String detail = "completion failed: status=" + status + " " + fetches.silence();
    if (connection.broken() == null) {
      context.peerLog().connectionFailed(connection.peer(), detail);
    }
    // A flush error does not identify the failed request; siw completes all with it.
    if (failed instanceof ReadOperation read && status != WorkStatus.FLUSH_ERROR) {
      connection.markBroken(
          new BrokenConnection(
              FallbackReason.READ_ERROR, detail, List.copyOf(read.batch().blocks())));
    } else {
      connection.markBroken(BrokenConnection.connectionLost(detail));
    }
  }

  /** Whether a failed receive means a message that is too long; rxe reports the second status. */
  private static boolean isMessageTooLong(WorkStatus status) {
    return status == WorkStatus.LOCAL_LENGTH_ERROR || status == WorkStatus.LOCAL_QUEUE_PAIR_ERROR;
  }

  private void onMessage(ControlBuffer received, int lengthBytes, long nowNs) {
    try {
      var message = received.message(lengthBytes);
      MessageType type = MessageType.of(message);
      if (type != MessageType.HELLO && type != MessageType.CONFIRM && !setup.isPeerProven()) {
        throw new MalformedMessageException(type + " of a peer that is not proven");
      }
      if (type != MessageType.RETURN) {
        connection.used(nowNs);
      }
      switch (type) {
        case LOCATE -> serves.onLocate(received, message, nowNs);
        case LOCATED -> {
          fetches.onLocated(message, nowNs);
          buffers.release(received);
        }
        case RELEASE -> {
          // Post the receive before the answer: the peer may send its next request at once.
          serves.onRelease(message);
          queues.receives().post(received);
        }
        case RELEASED -> {
          fetches.onReleased(message);
          buffers.release(received);
        }
        case RETURN -> {
          serves.onReturn(message);
          buffers.release(received);
        }
        case CONFIRM -> {
          exchange.onConfirm(message);
          buffers.release(received);
        }
        case HELLO -> {
          exchange.onHello(message);
          queues.receives().post(received);
        }
      }
    } catch (MalformedMessageException e) {
      countProtocolError(e.getMessage());
    } catch (VerbsException e) {
      connection.markBroken(BrokenConnection.connectionLost(e.getMessage()));
    }
  }

  private void countProtocolError(String reason) {
    context.counters().increment(Counter.PROTOCOL_ERRORS);
    connection.onProtocolError(reason);
  }
}
