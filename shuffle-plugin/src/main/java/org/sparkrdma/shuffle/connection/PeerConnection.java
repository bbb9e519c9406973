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

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.MessageType;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;

/**
 * One connection to a peer, used by both for fetching and serving. Owned by the agent.
 *
 * <pre>
 *  RESOLVING ─► CONNECTING ─► ESTABLISHED ─► CLOSED     we asked for it
 *               ACCEPTING  ─┘                           the peer asked for it
 * </pre>
 *
 * <p>Who accepts may not send before the one who asked has sent (RFC 5044, section 7.1.2; kernel
 * siw gives the connection up otherwise), which therefore does so at once. On every transport
 * alike.
 *
 * <p>From any state it may go to CLOSED, which destroys the queue pair before any memory goes back.
 */
public final class PeerConnection {
  /** Where it stands. */
  public enum State {
    RESOLVING,
    CONNECTING,
    ACCEPTING,
    ESTABLISHED,
    CLOSED
  }

  private static final Logger LOG = LoggerFactory.getLogger(PeerConnection.class);

  private final TransportContext context;
  private final Peer peer;
  private final int place;
  private final long number;
  private final Connection connection;
  private final long bornNs;
  private final List<ControlSlot> slots = new ArrayList<>();
  private final WorkRequest receive = new WorkRequest(1);
  private State state;
  private boolean accepted;
  private boolean spokenTo;
  private Hello hello;
  private QueuePair queuePair;
  private SendQueue sends;
  private FetchSide fetches;
  private ServeSide serves;
  private BrokenConnection broken;
  private long lastUsedNs;

  /**
   * @param place index in the agent's table, part of every work request's id
   * @param number never used again; by it the server knows the connection
   */
  public PeerConnection(
      TransportContext context,
      Peer peer,
      int place,
      long number,
      Connection connection,
      State state) {
    this.context = context;
    this.peer = peer;
    this.place = place;
    this.number = number;
    this.connection = connection;
    this.state = state;
    this.bornNs = context.nanoClock().getAsLong();
    this.lastUsedNs = bornNs;
  }

  public Peer peer() {
    return peer;
  }

  public int place() {
    return place;
  }

  public long number() {
    return number;
  }

  public Connection connection() {
    return connection;
  }

  public State state() {
    return state;
  }

  public void state(State next) {
    state = next;
  }

  /** Accepting is over as far as the devices are concerned. */
  public void accepted() {
    accepted = true;
  }

  /** Whether an accepted connection may be used: the peer has spoken. */
  public boolean mayBeEstablished() {
    return state == State.ACCEPTING && accepted && spokenTo;
  }

  /** Speaks first, as who asked for a connection must. */
  public void speakFirst(long nowNs) {
    fetches.greet(nowNs);
    sends.flush();
  }

  public long ageNs(long nowNs) {
    return nowNs - bornNs;
  }

  public long idleNs(long nowNs) {
    return nowNs - lastUsedNs;
  }

  /** The request's HELLO, sent or received. */
  public Hello hello() {
    return hello;
  }

  public void hello(Hello proof) {
    hello = proof;
  }

  /** Whether it has no open request in either direction. */
  public boolean isIdle() {
    return fetches.isIdle() && serves.isIdle();
  }

  public FetchSide fetches() {
    return fetches;
  }

  /** Why it must be ended, or null. */
  public BrokenConnection broken() {
    return broken;
  }

  /**
   * Notes that it must be ended. The first reason that finds a block at fault counts: that the
   * connection is lost may be heard before the failed completion that made it so.
   */
  public void breaks(BrokenConnection why) {
    assert context.owner().holds();
    if (broken == null || broken.atFault().isEmpty()) {
      broken = why;
    }
  }

  /**
   * Makes the queue pair and posts its receives.
   *
   * @return false when there is no memory for its control buffers
   * @throws VerbsException when the device refuses
   */
  public boolean prepare() throws VerbsException {
    assert context.owner().holds();
    for (int i = 0; i < context.settings().slotsPerConnection(); i++) {
      Optional<RegisteredChunk> chunk = context.control().tryTake();
      if (chunk.isEmpty()) {
        return false;
      }
      slots.add(new ControlSlot(i, chunk.get()));
    }
    queuePair =
        connection.createQueuePair(
            context.domain(),
            new QueuePairSettings(
                context.completions(),
                context.completions(),
                context.settings().sendDepth(),
                context.settings().receiveDepth(),
                1,
                0,
                Set.of(AccessFlag.REMOTE_READ)));
    sends = new SendQueue(queuePair, context.settings().sendDepth(), WorkIds.sends(place));
    int receives = context.settings().receiveDepth();
    int requests = receives + context.settings().requestsOpen();
    fetches =
        new FetchSide(context, sends, slots.subList(receives, requests), peer::wantFromAnyThread);
    serves =
        new ServeSide(
            context,
            sends,
            slots.subList(requests, slots.size()),
            number,
            this::receiveAgain,
            this::brokeProtocol);
    for (int i = 0; i < receives; i++) {
      receiveAgain(slots.get(i));
    }
    return true;
  }

  private void receiveAgain(ControlSlot slot) {
    receive.receive(WorkIds.receives(place) | slot.index());
    receive.local(slot.chunk().region(), slot.chunk().regionOffset(), slot.chunk().lengthBytes());
    if (!queuePair.postReceive(receive)) {
      throw new IllegalStateException(
          "receive queue full: depth=" + context.settings().receiveDepth());
    }
  }

  private void protocolError(String reason) {
    context.counters().increment(Counter.PROTOCOL_ERRORS);
    brokeProtocol(reason);
  }

  /** The peer broke the protocol, and that is counted. */
  private void brokeProtocol(String reason) {
    breaks(new BrokenConnection(FallbackReason.PROTOCOL_ERROR, reason, List.of()));
  }

  /** A completion of its queue pair. */
  public void onCompletion(WorkCompletion completion, long nowNs) {
    assert context.owner().holds();
    if (state == State.CLOSED || completion.queuePairNumber() != queuePair.number()) {
      return;
    }
    if (!completion.succeeded()) {
      fail(completion.status(), completion.requestId());
    } else if (WorkIds.isReceive(completion.requestId())) {
      lastUsedNs = nowNs;
      spokenTo = true;
      if (broken == null) {
        ControlSlot slot = slots.get((int) (completion.requestId() & WorkIds.LOW_MASK));
        onMessage(slot, (int) completion.byteLength(), nowNs);
      }
    } else {
      sends.completed(completion.requestId());
    }
  }

  private void fail(WorkStatus status, long id) {
    if (state == State.CONNECTING) {
      // Refused, and its receives are flushed: on iWARP that may be heard before the refusal, which
      // says why. An event ends every attempt.
      return;
    }
    if (WorkIds.isReceive(id) && isOfAMessageTooLong(status)) {
      protocolError("message longer than its buffer");
      return;
    }
    Posted failed = WorkIds.isReceive(id) ? null : sends.outstanding(id);
    String detail = "completion failed: status=" + status + " " + fetches.silence();
    if (broken == null) {
      LOG.info("a connection to a peer broke: {}", detail);
    }
    // A flush tells nothing of whose fault it was, see siw in the design notes.
    if (failed instanceof ReadOperation read && status != WorkStatus.FLUSH_ERROR) {
      breaks(
          new BrokenConnection(
              FallbackReason.READ_ERROR, detail, FetchSide.blocksOf(read.batch())));
    } else {
      breaks(BrokenConnection.nobodysFault(detail));
    }
  }

  /** Of a failed receive; the second is rxe's. */
  private static boolean isOfAMessageTooLong(WorkStatus status) {
    return status == WorkStatus.LOCAL_LENGTH_ERROR || status == WorkStatus.LOCAL_QUEUE_PAIR_ERROR;
  }

  private void onMessage(ControlSlot slot, int lengthBytes, long nowNs) {
    try {
      var message = slot.message(lengthBytes);
      switch (MessageType.of(message)) {
        case LOCATE -> serves.onLocate(slot, message);
        case LOCATED -> {
          fetches.onLocated(message, nowNs);
          receiveAgain(slot);
        }
        case RELEASE -> {
          // The receive goes back before the answer leaves: the peer may ask again at once.
          serves.onRelease(message);
          receiveAgain(slot);
        }
        case RELEASED -> {
          fetches.onReleased(message);
          receiveAgain(slot);
        }
      }
    } catch (MalformedMessageException e) {
      protocolError(e.getMessage());
    }
  }

  /** Posts what can be posted. */
  public void pump(long nowNs) {
    assert context.owner().holds();
    if (!isIdle()) {
      lastUsedNs = nowNs;
    }
    fetches.pump(nowNs);
    sends.flush();
  }

  /**
   * Ends it: first the queue pair is destroyed, then memory goes back, leases of the peer end, and
   * the blocks that it was fetching are returned.
   */
  public List<BlockProgress> close() {
    assert context.owner().holds();
    if (state == State.CLOSED) {
      return List.of();
    }
    state = State.CLOSED;
    connection.close();
    List<BlockProgress> left = List.of();
    if (fetches != null) {
      left = fetches.abandon();
      serves.close();
      context.server().peerGone(number);
    }
    slots.forEach(slot -> slot.chunk().release());
    slots.clear();
    return left;
  }
}
