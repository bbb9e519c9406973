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
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.connection.BrokenConnection;
import org.sparkrdma.shuffle.connection.Peer;
import org.sparkrdma.shuffle.connection.PeerConnection;
import org.sparkrdma.shuffle.connection.TransportContext;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Routes blocks to connections, and decides what becomes of them when a connection cannot be made
 * or ends. Owned by the agent.
 */
final class Peers {
  private static final Logger LOG = LoggerFactory.getLogger(Peers.class);
  private static final int CORRUPTIONS_TOLERATED = 3;

  private final TransportContext context;
  private final ConnectionTable table;
  private final Map<Long, Peer> byIncarnation = new HashMap<>();
  private boolean stopped;

  Peers(TransportContext context, ConnectionTable table) {
    this.context = context;
    this.table = table;
  }

  Peer of(long incarnation) {
    assert context.owner().holds();
    Peer peer =
        byIncarnation.computeIfAbsent(
            incarnation, key -> new Peer(key, block -> context.agent().accept(() -> want(block))));
    peer.touch(context.nanoClock().getAsLong());
    return peer;
  }

  /**
   * Drops peers that nobody has used for a while: executors come and go. Nothing is kept of them: a
   * request that is sent again is never confirmed.
   */
  void dropUnused(long nowNs) {
    assert context.owner().holds();
    long unusedNs = context.settings().idleTimeout().toNanos();
    byIncarnation.values().removeIf(peer -> peer.isUnused(nowNs, unusedNs));
  }

  Collection<Peer> all() {
    return byIncarnation.values();
  }

  /** Has a block fetched, over the connection there is or over one to be made. */
  void want(BlockProgress block) {
    assert context.owner().holds();
    if (stopped) {
      context.delivery().fail(block, FallbackReason.STOPPED, "transport has stopped");
      return;
    }
    Optional<String> incompatibility = context.self().incompatibility(block.fetch().peer());
    if (incompatibility.isPresent()) {
      context.delivery().fail(block, FallbackReason.INCOMPATIBLE, incompatibility.get());
      return;
    }
    long nowNs = context.nanoClock().getAsLong();
    Peer peer = of(block.fetch().peer().incarnation());
    peer.endpoint(block.fetch().peer());
    if (peer.established() != null) {
      peer.established().fetches().want(block);
    } else if (peer.isQuarantined(nowNs)) {
      context
          .delivery()
          .fail(block, FallbackReason.QUARANTINED, "peer is quarantined after a failure");
    } else if (peer.needsTest()) {
      // No block waits for a peer that has failed before; a connection is attempted meanwhile.
      context.delivery().fail(block, FallbackReason.QUARANTINED, "peer is tested by a connection");
      peer.startWaiting(nowNs);
    } else {
      peer.pending().add(block);
      peer.startWaiting(nowNs);
    }
  }

  /** A connection's peer is proven: what waited for it goes on, and it replaces all others. */
  void establish(PeerConnection connection) {
    assert context.owner().holds();
    Peer peer = connection.peer();
    PeerConnection old = peer.established();
    PeerConnection attempt = peer.attempt() == connection ? null : peer.attempt();
    peer.forget(connection);
    peer.established(connection, connection.generation());
    connection.establish();
    context.counters().increment(Counter.CONNECTIONS_ESTABLISHED);
    peer.pending().forEach(connection.fetches()::want);
    peer.pending().clear();
    replace(old);
    replace(attempt);
  }

  private void replace(PeerConnection old) {
    if (old != null) {
      end(old, BrokenConnection.connectionLost("replaced"));
    }
  }

  /**
   * Ends a connection, or an attempt at one; blocks of others than those at fault are wanted again.
   */
  void end(PeerConnection connection, BrokenConnection why) {
    assert context.owner().holds();
    boolean counted = connection.isEstablished();
    boolean attempt = connection.isAttempt();
    List<BlockProgress> left = connection.close();
    table.remove(connection);
    connection.peer().forget(connection);
    if (counted) {
      context.counters().increment(Counter.CONNECTIONS_CLOSED);
    }
    if (why.reason() == FallbackReason.TIMEOUT || why.reason() == FallbackReason.PROTOCOL_ERROR) {
      quarantine(connection.peer(), why.reason().label(), why.detail());
      if (attempt) {
        giveUpForNow(connection.peer(), why.reason(), why.detail());
      }
    }
    Set<BlockProgress> atFault = new HashSet<>(why.atFault());
    for (BlockProgress block : left) {
      if (atFault.contains(block)) {
        context.delivery().fail(block, why.reason(), why.detail());
      } else if (block.tryUseReissue()) {
        want(block);
      } else {
        context.delivery().fail(block, FallbackReason.LOST_PEER, why.detail());
      }
    }
  }

  /** A connection attempt failed: pending blocks use TCP, and the peer is quarantined. */
  void giveUp(Peer peer, FallbackReason reason, String detail) {
    quarantine(peer, reason.label(), detail);
    giveUpForNow(peer, reason, detail);
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
      quarantine(peer, FallbackReason.CORRUPT.label(), detail);
      end(peer.established(), BrokenConnection.connectionLost(detail));
    }
  }

  private void failPending(Peer peer, FallbackReason reason, String detail) {
    List<BlockProgress> pending = new ArrayList<>(peer.pending());
    peer.pending().clear();
    pending.forEach(block -> context.delivery().fail(block, reason, detail));
  }

  private void quarantine(Peer peer, String reason, String detail) {
    long forNs =
        peer.quarantine(
            context.nanoClock().getAsLong(),
            context.settings().quarantine().toNanos(),
            context.settings().maxQuarantine().toNanos());
    context.counters().increment(Counter.PEERS_QUARANTINED);
    LOG.info(
        "Quarantining peer {} for {} ms: reason={} detail={}; its blocks use TCP",
        peer,
        TimeUnit.NANOSECONDS.toMillis(forNs),
        reason,
        detail);
  }

  /** The transport stops: every connection ends, every block is answered, now and later. */
  void stop() {
    assert context.owner().holds();
    stopped = true;
    while (table.size() > 0) {
      PeerConnection connection = table.get(0);
      List<BlockProgress> left = connection.close();
      table.remove(connection);
      connection.peer().forget(connection);
      left.forEach(
          block -> context.delivery().fail(block, FallbackReason.STOPPED, "executor stops"));
    }
    byIncarnation
        .values()
        .forEach(peer -> failPending(peer, FallbackReason.STOPPED, "executor stops"));
  }
}
