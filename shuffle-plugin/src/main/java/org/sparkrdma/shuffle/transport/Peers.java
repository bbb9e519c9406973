// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Routes blocks to connections, and reissues or fails them when a connection attempt fails or a
 * connection closes. Owned by the agent.
 */
final class Peers {
  private static final int CORRUPTIONS_TOLERATED = 3;

  /** Detail of blocks that are answered when the transport stops. */
  static final String EXECUTOR_STOPS = "executor stops";

  private static final Set<FallbackReason> QUARANTINING =
      EnumSet.of(
          FallbackReason.TIMEOUT, FallbackReason.PROTOCOL_ERROR, FallbackReason.CONNECT_FAILED);

  private final TransportContext context;
  private final ConnectionTable table;
  private final Map<Long, Peer> byIncarnation = new HashMap<>();
  private final Set<Peer> waiting = new LinkedHashSet<>();
  private boolean stopped;

  Peers(TransportContext context, ConnectionTable table) {
    this.context = context;
    this.table = table;
    // Of the transport before the loss of a device.
    context.counters().quarantined().clear();
  }

  Peer of(long incarnation) {
    return of(incarnation, context.nanoClock().getAsLong());
  }

  private Peer of(long incarnation, long nowNs) {
    assert context.owner().holds();
    Peer peer = byIncarnation.computeIfAbsent(incarnation, this::create);
    peer.touch(nowNs);
    return peer;
  }

  /** The peer, or null when it has no state. */
  Peer find(long incarnation) {
    assert context.owner().holds();
    return byIncarnation.get(incarnation);
  }

  /** A peer of which only a connection is known yet. */
  Peer stranger() {
    return create(0);
  }

  private Peer create(long incarnation) {
    return new Peer(incarnation);
  }

  /** Whether there is room for a connection, perhaps in place of an idle one. */
  boolean makeRoom(long nowNs) {
    if (!table.hasRoom()) {
      table
          .longestIdle(nowNs)
          .ifPresent(idle -> end(idle, BrokenConnection.connectionLost("made room")));
    }
    return table.hasRoom();
  }

  /**
   * Drops peers that were unused for the idle time-out, or the connect time-out if no block was
   * wanted from them, because executors come and go. No state of them is needed later: a replayed
   * connection request is never confirmed.
   */
  void dropUnused(long nowNs) {
    assert context.owner().holds();
    byIncarnation.values().removeIf(peer -> dropIfUnused(peer, nowNs));
  }

  private boolean dropIfUnused(Peer peer, long nowNs) {
    // Its generation counts for as long as requests may have crossed.
    Duration kept =
        peer.isStranger() ? context.settings().connectTimeout() : context.settings().idleTimeout();
    long unusedNs = Math.min(kept.toNanos(), context.settings().idleTimeout().toNanos());
    boolean unused = peer.isUnused(nowNs, unusedNs);
    if (unused && peer.needsTest()) {
      removeFromQuarantined(peer);
    }
    return unused;
  }

  private void removeFromQuarantined(Peer peer) {
    if (peer.endpoint() != null) {
      context.counters().quarantined().remove(peer.endpoint().executorId());
    }
  }

  /** Peers to which a connection is wanted; a copy. */
  List<Peer> waiting() {
    if (waiting.isEmpty()) {
      return List.of();
    }
    waiting.removeIf(peer -> !peer.isWaiting());
    return List.copyOf(waiting);
  }

  /** Fetches all blocks of a request over the established connection, or initiates one first. */
  void fetch(FetchRequest request) {
    long nowNs = context.nanoClock().getAsLong();
    int count = request.ranges().size();
    List<BlockProgress> blocks = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      blocks.add(new BlockProgress(request, i, false, nowNs));
    }
    fetch(request.endpoint(), blocks);
  }

  /** Fetches one block; as {@link #fetch(FetchRequest)}. */
  private void fetch(BlockProgress block) {
    fetch(block.request().endpoint(), List.of(block));
  }

  private void fetch(Endpoint endpoint, List<BlockProgress> blocks) {
    assert context.owner().holds();
    if (stopped) {
      fail(blocks, FallbackReason.STOPPED, "transport has stopped");
      return;
    }
    Optional<String> incompatibility = context.self().incompatibility(endpoint);
    if (incompatibility.isPresent()) {
      fail(blocks, FallbackReason.INCOMPATIBLE, incompatibility.get());
      return;
    }
    long nowNs = context.nanoClock().getAsLong();
    Peer peer = of(endpoint.incarnation(), nowNs);
    peer.endpoint(endpoint);
    PeerConnection old = peer.established();
    if (old != null && old.awaitsEnd()) {
      // The blocks must not wait for the ends of other connections.
      end(old, old.broken());
    }
    if (peer.needsTest()) {
      test(peer, blocks, nowNs);
    } else if (peer.established() != null) {
      peer.established().fetch(blocks);
    } else {
      peer.pending().addAll(blocks);
      startWaiting(peer, nowNs);
    }
  }

  /** No block waits for a peer that failed before: a connection tests it, and then a request. */
  private void test(Peer peer, List<BlockProgress> blocks, long nowNs) {
    PeerConnection connection = peer.established();
    if (peer.isQuarantined(nowNs)) {
      fail(blocks, FallbackReason.QUARANTINED, "peer is quarantined after a failure");
    } else if (connection == null) {
      fail(blocks, FallbackReason.QUARANTINED, "peer is tested by a connection");
      startWaiting(peer, nowNs);
    } else {
      fail(blocks, FallbackReason.QUARANTINED, "peer is tested by a request");
      if (connection.fetches().isIdle()) {
        connection.fetch(blocks.get(0).test(nowNs));
      }
    }
  }

  private void fail(List<BlockProgress> blocks, FallbackReason reason, String detail) {
    blocks.forEach(block -> block.fail(reason, detail));
  }

  private void startWaiting(Peer peer, long nowNs) {
    peer.startWaiting(nowNs);
    waiting.add(peer);
  }

  /** Whether this executor's incarnation is the lower one, unsigned. */
  boolean isLowerThan(Peer peer) {
    return Long.compareUnsigned(context.self().incarnation(), peer.incarnation()) < 0;
  }

  /**
   * The peer has confirmed its request, which is established then. As the lower of the two, this
   * executor may have confirmed an attempt of its own since it accepted that request, and keeps to
   * that: the peer establishes it, too.
   */
  void confirmed(PeerConnection connection, long nowNs) {
    PeerConnection own = connection.peer().established();
    if (own != null
        && own.broken() == null
        && own.isInitiator()
        && own.establishedForNs(nowNs) <= connection.ageNs(nowNs)
        && isLowerThan(connection.peer())) {
      connection.markBroken(BrokenConnection.connectionLost("confirmed after an own attempt"));
    } else {
      establish(connection);
    }
  }

  /** The peer of a connection is proven: it gets the pending blocks and replaces other ones. */
  void establish(PeerConnection connection) {
    assert context.owner().holds();
    Peer peer = connection.peer();
    PeerConnection old = peer.established();
    PeerConnection attempt = peer.attempt() == connection ? null : peer.attempt();
    peer.forget(connection);
    if (!peer.needsTest()) {
      // Of an earlier start of this executor.
      removeFromQuarantined(peer);
    }
    peer.established(connection, connection.generation());
    connection.establish();
    context.counters().increment(Counter.CONNECTIONS_ESTABLISHED);
    peer.pending().forEach(connection::fetch);
    peer.pending().clear();
    if (old != null) {
      end(old, BrokenConnection.connectionLost("replaced"));
    }
    if (attempt != null) {
      yieldAttempt(attempt, "replaced");
    }
  }

  /** Ends an attempt: a request that the peer made at the same time wins. */
  void yieldAttempt(PeerConnection attempt, String detail) {
    if (attempt.broken() == null && attempt.setup().isRequested()) {
      context.counters().increment(Counter.CONNECTIONS_COLLIDED);
    }
    end(attempt, BrokenConnection.connectionLost(detail));
  }

  /** Closes a connection or an attempt. Blocks at fault fail, the others are reissued once. */
  void end(PeerConnection connection, BrokenConnection cause) {
    assert context.owner().holds();
    boolean attempt = connection.isAttempt();
    boolean unconfirmed = connection.isUnconfirmed();
    List<BlockProgress> left = close(connection);
    if (unconfirmed) {
      dropStranger(connection.peer());
    } else if (QUARANTINING.contains(cause.reason()) && isKnown(connection.peer())) {
      quarantine(connection.peer(), cause.reason(), cause.detail());
      if (attempt) {
        connection.countFailedAttempt();
        giveUpForNow(connection.peer(), cause.reason(), cause.detail());
      }
    }
    Set<BlockProgress> atFault = new HashSet<>(cause.atFault());
    for (BlockProgress block : left) {
      if (atFault.contains(block)) {
        block.fail(cause.reason(), cause.detail());
      } else if (block.tryUseReissue()) {
        fetch(block);
      } else {
        block.fail(FallbackReason.LOST_PEER, cause.detail());
      }
    }
  }

  /** Any member can claim an incarnation, so an unconfirmed connection leaves nothing. */
  private void dropStranger(Peer peer) {
    if (isKnown(peer) && peer.isStranger() && !peer.needsTest()) {
      byIncarnation.remove(peer.incarnation());
    }
  }

  private boolean isKnown(Peer peer) {
    return byIncarnation.get(peer.incarnation()) == peer;
  }

  /** A connection attempt failed: pending blocks use TCP, and the peer is quarantined. */
  void giveUp(Peer peer, FallbackReason reason, String detail) {
    quarantine(peer, reason, detail);
    giveUpForNow(peer, reason, detail);
  }

  /** Returns the blocks that it was fetching. */
  private List<BlockProgress> close(PeerConnection connection) {
    boolean counted = connection.isEstablished();
    List<BlockProgress> left = connection.close();
    table.remove(connection);
    connection.peer().forget(connection);
    if (counted) {
      context.counters().increment(Counter.CONNECTIONS_CLOSED);
    }
    return left;
  }

  /** No connection because one end lacks room: pending blocks use TCP, without quarantine. */
  void giveUpForNow(Peer peer, FallbackReason reason, String detail) {
    assert context.owner().holds();
    peer.stopWaiting();
    failPending(peer, reason, detail);
  }

  /** Counts a corrupt block of a peer; the third one quarantines the peer. */
  void corrupted(long incarnation) {
    Peer peer = of(incarnation);
    if (peer.countCorruption() >= CORRUPTIONS_TOLERATED && peer.established() != null) {
      String detail = "corrupt blocks";
      quarantine(peer, FallbackReason.CORRUPT, detail);
      end(peer.established(), BrokenConnection.connectionLost(detail));
    }
  }

  /** Pending blocks use TCP. */
  void failPending(Peer peer, FallbackReason reason, String detail) {
    List<BlockProgress> pending = new ArrayList<>(peer.pending());
    peer.pending().clear();
    pending.forEach(block -> block.fail(reason, detail));
  }

  private void quarantine(Peer peer, FallbackReason reason, String detail) {
    boolean withoutConnection =
        reason == FallbackReason.CONNECT_FAILED || reason == FallbackReason.REFUSED;
    long forNs =
        peer.quarantine(
            context.nanoClock().getAsLong(),
            context.settings().quarantine().toNanos(),
            context.settings().maxQuarantine().toNanos(),
            withoutConnection);
    context.counters().increment(Counter.PEERS_QUARANTINED);
    if (peer.endpoint() != null) {
      context.counters().quarantined().add(peer.endpoint().executorId());
    }
    context
        .peerLog()
        .quarantined(peer, TimeUnit.NANOSECONDS.toMillis(forNs), reason.label(), detail);
  }

  /**
   * Stops: fails every block, including later ones, before any connection ends by {@link #endNext}.
   * The destruction of all queue pairs may take long, and no block waits for it.
   */
  void stop() {
    assert context.owner().holds();
    stopped = true;
    byIncarnation
        .values()
        .forEach(peer -> failPending(peer, FallbackReason.STOPPED, EXECUTOR_STOPS));
    for (int i = 0; i < table.size(); i++) {
      failBeforeRelease(table.get(i).blocks());
    }
  }

  private void failBeforeRelease(List<BlockProgress> blocks) {
    blocks.forEach(block -> block.failBeforeRelease(FallbackReason.STOPPED, EXECUTOR_STOPS));
  }

  /**
   * Ends a connection after {@link #stop}, also when that throws.
   *
   * @return false when there was none
   */
  boolean endNext() {
    assert context.owner().holds();
    if (table.size() == 0) {
      return false;
    }
    PeerConnection connection = table.get(table.size() - 1);
    try {
      // Releases their memory: their answers are claimed.
      close(connection).forEach(block -> block.fail(FallbackReason.STOPPED, EXECUTOR_STOPS));
    } finally {
      table.remove(connection);
    }
    return true;
  }
}
