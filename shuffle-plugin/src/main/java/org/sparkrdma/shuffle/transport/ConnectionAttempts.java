// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.TransportSettings;

/**
 * Gives peers their turns to be connected to, and gives up those that do not answer. Owned by the
 * agent.
 *
 * <p>At most {@code maxAttempts} attempts are open at the same time. An attempt may last longer
 * than blocks wait, because the kernel repeats lost messages; but one without an answer after
 * {@code connect.timeout} is given up for a peer whose blocks wait for their turn. So silent peers
 * keep others from connecting for no longer than that. Tests of peers that failed before wait for
 * peers that have blocks, and take at most half of the attempts.
 *
 * <p>While an attempt is open the agent has a turn every few milliseconds. When it does not run for
 * longer, as in a pause of the JVM or of the container, it takes no answer. So each turn adds at
 * most {@link #MAX_STEP_NS} to the time of an attempt, and a peer that is well is not given up for
 * such a pause. An attempt still ends after a limited number of turns.
 */
final class ConnectionAttempts {
  private static final String NOT_IN_TIME = "no connection in time";

  /** Longest time between two turns that counts for attempts. */
  static final long MAX_STEP_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final TransportSettings settings;
  private final Peers peers;
  private final Connector connector;

  /** Those without an answer, the oldest first. */
  private final List<PeerConnection> open = new ArrayList<>();

  /** Time of the last turn. */
  private long ranNs;

  ConnectionAttempts(TransportSettings settings, Peers peers, Connector connector, long nowNs) {
    this.settings = settings;
    this.peers = peers;
    this.connector = connector;
    this.ranNs = nowNs;
  }

  /** Makes the attempts that are due; returns the number of attempts made or given up. */
  int run(long nowNs) {
    open.removeIf(attempt -> !attempt.isAttempt());
    addPause(nowNs);
    List<Peer> waiting = peers.waiting();
    if (waiting.isEmpty()) {
      return 0;
    }
    int made = 0;
    int ended = 0;
    for (Peer peer : waiting) {
      if (!peer.pending().isEmpty() && peer.shouldAttempt(nowNs)) {
        if (isFull() && ended < ConnectionEnds.MAX_PER_TURN) {
          ended += giveUpOldest(nowNs);
        }
        made += isFull() ? 0 : attempt(peer, nowNs);
      }
    }
    for (Peer peer : waiting) {
      if (peer.pending().isEmpty() && peer.shouldAttempt(nowNs) && hasRoomForTest()) {
        made += attempt(peer, nowNs);
      }
    }
    return made + ended;
  }

  private void addPause(long nowNs) {
    long pauseNs = nowNs - ranNs - MAX_STEP_NS;
    ranNs = nowNs;
    if (pauseNs > 0) {
      open.forEach(attempt -> attempt.addPause(pauseNs, nowNs));
    }
  }

  private boolean isFull() {
    return open.size() >= settings.maxAttempts();
  }

  private boolean hasRoomForTest() {
    if (isFull()) {
      return false;
    }
    long tests = open.stream().filter(attempt -> attempt.peer().needsTest()).count();
    return tests < Math.max(1, settings.maxAttempts() / 2);
  }

  private int attempt(Peer peer, long nowNs) {
    connector.attempt(peer, nowNs);
    if (peer.attempt() != null) {
      open.add(peer.attempt());
    }
    return 1;
  }

  /** Gives up the oldest attempt, if it has had its time; returns how many. */
  private int giveUpOldest(long nowNs) {
    PeerConnection oldest = open.get(0);
    if (oldest.attemptNs(nowNs) < settings.connectTimeout().toNanos()) {
      return 0;
    }
    open.remove(0);
    peers.end(oldest, oldest.broken() == null ? notInTime() : oldest.broken());
    return 1;
  }

  private static BrokenConnection notInTime() {
    return new BrokenConnection(FallbackReason.CONNECT_FAILED, NOT_IN_TIME, List.of());
  }

  /** Blocks that waited too long use TCP; an attempt in progress goes on for some time. */
  void giveUpOverdue(long nowNs) {
    for (Peer peer : peers.waiting()) {
      PeerConnection attempt = peer.attempt();
      if (attempt != null && isOverdue(attempt, nowNs)) {
        attempt.countFailedAttempt();
        attempt.markBroken(notInTime());
      } else if (peer.hasWaitedTooLong(nowNs, settings.connectTimeout().toNanos())) {
        stopWaiting(peer, nowNs);
      }
    }
  }

  /**
   * Whether the attempt must end. The device may repeat lost messages, so it has more time than
   * blocks have. A queue pair that is connected before the proofs may be open for the peer's READs,
   * so there the peer has the shorter time to prove itself.
   */
  private boolean isOverdue(PeerConnection attempt, long nowNs) {
    return attempt.attemptNs(nowNs) > settings.attemptTimeout().toNanos()
        || attempt.setup().isConnectedWithoutAnswer(nowNs, settings.connectTimeout().toNanos());
  }

  private void stopWaiting(Peer peer, long nowNs) {
    boolean mayRepeat =
        peer.hasCollided() && !peer.hasWaitedTooLong(nowNs, settings.attemptTimeout().toNanos());
    if (peer.attempt() != null || peer.isAccepting() || mayRepeat) {
      peers.failPending(peer, FallbackReason.CONNECT_FAILED, "no connection yet");
    } else if (peer.refused() != null) {
      peers.giveUpForNow(peer, peer.refused().reason(), peer.refused().detail());
    } else if (peer.hasCollided()) {
      // It answers, so it is no failure of the peer.
      peers.giveUpForNow(peer, FallbackReason.CONNECT_FAILED, "both ends send requests");
    } else {
      // An attempt of the peer's has ended, or none was made: no failure of the peer that is known.
      String detail = peer.isAttempted() ? NOT_IN_TIME : "too many connection attempts";
      peers.giveUpForNow(peer, FallbackReason.CONNECT_FAILED, detail);
    }
  }
}
