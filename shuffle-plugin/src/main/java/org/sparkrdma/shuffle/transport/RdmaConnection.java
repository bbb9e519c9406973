// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.PacketSettings;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/**
 * The life of one end of a connection: its queue pair and its buffers, from its set-up to its end.
 * Confined to the agent.
 *
 * <pre>
 *  RESOLVING ─► CREATING ─► CONNECTING ─► PROVING ─► ESTABLISHED
 *       └──────────┴────────────┴────────────┴───────────┴─► BROKEN ─► CLOSED
 * </pre>
 *
 * <p>Every fault has one treatment: the connection is marked broken, which leaves its blocks to
 * TCP. The agent then destroys the queue pair, and only that frees memory, because until then the
 * device may write it. A connection that breaks while its queue pair is created waits for that.
 */
abstract class RdmaConnection extends MessageConnection {
  /**
   * Without limit. Receives are always posted, but a pause of the peer's JVM may delay them, and
   * every request has its own deadline.
   */
  private static final int RECEIVER_NOT_READY_RETRIES = 7;

  private static final byte[] NO_DATA = {};

  /** ENOMEM, EAGAIN (of control groups), EMFILE and ENOSPC; see errno(3). */
  private static final Set<Integer> NO_ROOM = Set.of(VerbsException.ENOMEM, 11, 24, 28);

  protected final Connection connection;

  /** Time from which the peer has its time to answer. */
  protected long beganNs;

  private CompletionQueues.Rings rings;

  /** Whether the agent waits for a queue pair of {@link QueuePairThread}. */
  private boolean awaitsQueuePair;

  /** Whether it waits for its turn there. */
  private boolean awaitsTurn;

  RdmaConnection(AgentResources shared, Connection connection, State first, long nowNs) {
    super(shared, first, nowNs);
    this.connection = connection;
    this.beganNs = nowNs;
    connection.attach(this);
    shared.work().add(this);
  }

  /** Whether this host has no room for another connection now: no fault of the peer. */
  static boolean isShortage(VerbsException refusal) {
    return NO_ROOM.contains(refusal.errno());
  }

  /** It will get a queue pair when it is its turn. */
  final void awaitTurn() {
    awaitsTurn = true;
  }

  /** Whether this executor's device must create a queue pair before the peer can do anything. */
  final boolean isHeldUpHere() {
    return awaitsTurn || awaitsQueuePair;
  }

  /**
   * Takes memory and begins to create the queue pair, as a turn of {@link QueuePairThread}; {@link
   * #onQueuePair} or {@link #onNoRoom} follows, unless it ends before.
   *
   * @param access of the peer from the beginning
   */
  protected final void create(
      int sendDepth, int receives, int otherBuffers, Set<AccessFlag> access) {
    assert shared.agentThread().holds();
    RegisteredChunk[] taken = shared.messageBuffers().tryTake(receives + otherBuffers);
    if (taken != null) {
      buffers = taken;
      rings = shared.completions().tryTake(sendDepth, receives);
    }
    if (rings == null) {
      onNoRoom("no memory for messages");
      return;
    }
    QueuePairSettings settings =
        new QueuePairSettings(
            rings.completionQueue(), rings.completionQueue(), sendDepth, receives, 1, access);
    move(State.CREATING);
    awaitsTurn = false;
    awaitsQueuePair = true;
    shared.queuePairs().add(() -> createQueuePair(settings));
  }

  /** The thread that creates queue pairs. */
  private void createQueuePair(QueuePairSettings settings) {
    try {
      // A connection that has ended meanwhile needs none.
      QueuePair created =
          hasEnded() ? null : connection.createQueuePair(shared.device().domain(), settings);
      shared.work().execute(() -> onCreated(created, null, settings));
    } catch (VerbsException e) {
      shared.work().execute(() -> onCreated(null, e, settings));
    }
  }

  private void onCreated(QueuePair created, VerbsException refusal, QueuePairSettings settings) {
    awaitsQueuePair = false;
    beganNs = shared.work().nowNs();
    shared.queuePairs().onEnded();
    if (hasEnded()) {
      shared.work().addBroken(this);
      return;
    }
    if (refusal != null) {
      onRefused(refusal);
      return;
    }
    queuePair = created;
    sends = new SendQueue(queuePair, settings.sendDepth());
    postReceives(settings.receiveDepth());
    if (hasEnded()) {
      return;
    }
    try {
      onQueuePair();
    } catch (VerbsException e) {
      onRefused(e);
    }
  }

  /** Posts its receives, the first buffers. */
  private void postReceives(int count) {
    messages = new ByteBuffer[count];
    for (int i = 0; i < count && !hasEnded(); i++) {
      messages[i] = buffer(i).slice(0, buffer(i).lengthBytes());
      postReceive(i);
    }
  }

  /**
   * The queue pair is created, and its receives are posted.
   *
   * @throws VerbsException when the device refuses to connect it
   */
  protected abstract void onQueuePair() throws VerbsException;

  /** The device refuses to create the queue pair or to connect it. */
  private void onRefused(VerbsException refusal) {
    if (isShortage(refusal)) {
      onNoRoom(refusal.getMessage());
    } else {
      markBroken(FallbackReason.CONNECT_FAILED, refusal.getMessage());
    }
  }

  /** This host has no room for the connection now: no fault of the peer. */
  protected abstract void onNoRoom(String detail);

  protected final ConnectionParameters parameters(Duration timeout) {
    PacketSettings packets = shared.settings().packets();
    return new ConnectionParameters(
        NO_DATA,
        shared.fitness().readDepth(),
        packets.ackRetries(),
        RECEIVER_NOT_READY_RETRIES,
        packets.ackTimeout(),
        timeout);
  }

  /** Checks of each tenth of a second. */
  abstract void onTick(long nowNs);

  /** It is marked broken. */
  protected abstract void onBroken(FallbackReason reason, String detail);

  /** The queue pair is destroyed: the memory of its work is free. */
  protected abstract void onDestroyed();

  /** Whether work is open that has a deadline. */
  abstract boolean isBusy();

  @Override
  final void markBroken(FallbackReason reason, String detail) {
    assert shared.agentThread().holds();
    if (hasEnded()) {
      return;
    }
    move(State.BROKEN);
    if (sends != null) {
      sends.markBroken();
    }
    onBroken(reason, detail);
    if (!awaitsQueuePair) {
      shared.work().addBroken(this);
    }
  }

  /**
   * Destroys its queue pair, then frees what it held. The agent, or the closer after the end of the
   * agent and of {@link QueuePairThread}.
   */
  final void destroy() {
    if (state() == State.CLOSED) {
      return;
    }
    move(State.CLOSED);
    if (sends == null) {
      connection.close();
    } else {
      sends.destroy(connection);
    }
    if (rings != null) {
      rings.close();
    }
    onDestroyed();
    for (RegisteredChunk buffer : buffers) {
      buffer.release();
    }
    shared.work().remove(this);
  }
}
