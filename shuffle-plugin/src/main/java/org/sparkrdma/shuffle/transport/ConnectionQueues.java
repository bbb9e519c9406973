// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;

/**
 * The queue pair of a connection with its send queue, its posted receives and its share of the
 * rings of completion queues. Owned by the agent.
 *
 * <p>Closing the {@link Connection} destroys the queue pair, on iWARP perhaps later; {@link #close}
 * then frees the rings.
 */
final class ConnectionQueues {
  /** An initiator's buffer for the messages of the set-up. */
  private static final int INITIATOR_SETUP_BUFFERS = 1;

  /** One buffer is the receive for the CONFIRM: two requests may follow it at once. */
  private static final int RESPONDER_SETUP_BUFFERS = 2;

  /** Control buffers that a responder takes for a connection at once. */
  static final int RESPONDER_BUFFERS =
      RESPONDER_SETUP_BUFFERS + TransportSettings.RECEIVES_WHEN_IDLE;

  private final CompletionQueues.Rings rings;
  private final QueuePair queuePair;
  private final SendQueue sends;
  private final PostedReceives receives;
  private final SetupSends setupSends;

  private ConnectionQueues(
      CompletionQueues.Rings rings,
      QueuePair queuePair,
      SendQueue sends,
      PostedReceives receives,
      SetupSends setupSends) {
    this.rings = rings;
    this.queuePair = queuePair;
    this.sends = sends;
    this.receives = receives;
    this.setupSends = setupSends;
  }

  /**
   * Creates the queue pair and posts its receives.
   *
   * @param index of the connection in the agent's table
   * @param initiator whether this executor initiates the connection
   * @param onReceiveRefused called when the device takes no receive, also during this call
   * @return empty when there is no memory for control buffers or rings
   * @throws VerbsException when the device refuses
   */
  static Optional<ConnectionQueues> open(
      TransportContext context,
      Connection connection,
      ConnectionBuffers buffers,
      int index,
      boolean initiator,
      Runnable onReceiveRefused)
      throws VerbsException {
    List<ControlBuffer> first = takeFirstBuffers(context, buffers, initiator);
    Optional<CompletionQueues.Rings> taken =
        first.isEmpty() ? Optional.empty() : context.completions().tryTake();
    if (taken.isEmpty()) {
      return Optional.empty();
    }
    CompletionQueues.Rings rings = taken.get();
    TransportSettings settings = context.settings();
    QueuePair queuePair;
    try {
      queuePair =
          connection.createQueuePair(
              context.domain(),
              new QueuePairSettings(
                  rings.completionQueue(),
                  rings.completionQueue(),
                  settings.sendDepth(),
                  settings.receiveDepth(),
                  1,
                  0,
                  SetupExchange.initialAccess(context)));
    } catch (Throwable e) {
      rings.closeUnused();
      throw e;
    }
    SendQueue sends = new SendQueue(queuePair, settings.sendDepth(), WorkIds.sends(index));
    PostedReceives receives =
        new PostedReceives(
            queuePair, settings.receiveDepth(), WorkIds.receives(index), onReceiveRefused);
    SetupSends setupSends = new SetupSends(sends, buffers, first.remove(0));
    first.forEach(receives::post);
    return Optional.of(new ConnectionQueues(rings, queuePair, sends, receives, setupSends));
  }

  /** Buffers for the set-up's sends and for receives; empty when there is no memory. */
  private static List<ControlBuffer> takeFirstBuffers(
      TransportContext context, ConnectionBuffers buffers, boolean initiator) {
    List<ControlBuffer> first = new ArrayList<>();
    int setup = initiator ? INITIATOR_SETUP_BUFFERS : RESPONDER_SETUP_BUFFERS;
    int count = setup + TransportSettings.RECEIVES_WHEN_IDLE;
    Optional<ControlBuffer> taken = Optional.empty();
    if (context.control().fillReserve()) {
      taken = buffers.tryTake();
    }
    while (taken.isPresent() && first.size() < count - 1) {
      first.add(taken.get());
      taken = buffers.tryTake();
    }
    if (taken.isEmpty()) {
      return List.of();
    }
    first.add(taken.get());
    return first;
  }

  QueuePair queuePair() {
    return queuePair;
  }

  SendQueue sends() {
    return sends;
  }

  PostedReceives receives() {
    return receives;
  }

  /** Sends the messages of the connection's set-up. */
  SetupSends setupSends() {
    return setupSends;
  }

  /** Posts what was gathered to be sent. */
  void flush() {
    sends.flush();
    if (sends.hasOutstanding()) {
      rings.expectCompletions();
    }
  }

  /** Frees the rings; the queue pair must be destroyed. */
  void close() {
    rings.close();
  }
}
