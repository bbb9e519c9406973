// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.WaitBudgets;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.shuffle.wire.SetupMessages;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;

/**
 * The reader's end of a connection: its set-up, what becomes of each message and completion, its
 * deadlines and its end. {@link LocateSender} sends LOCATEs and releases leases, {@link
 * WantedBlocks} has what is located later, {@link LocateAnswers} checks what the peer answers,
 * {@link ReadPipeline} posts READs and hands whole blocks to their request.
 *
 * <p>Confined to the agent, but for {@link #tryLocate}.
 */
final class FetchConnection extends RdmaConnection {
  private final FetchPeers peers;
  private final Peer peer;
  private final PeerHealth health;
  private final Handshake handshake;

  /** Null before there is a queue pair, as the next three. */
  private LocateSender sender;

  private WantedBlocks wanted;
  private LocateAnswers answers;
  private ReadPipeline reads;

  /** Time of its last answer or completed READ. */
  private long progressNs;

  /** The longest wait for it that may begin now. */
  private volatile long limitNs;

  private volatile boolean wantsProbe;

  /** Whether it makes no progress: new blocks use TCP until what was begun has ended. */
  private boolean suspect;

  private long suspectNs;

  /** Begin of the wait after which it was suspect. */
  private long waitedSinceNs;

  FetchConnection(
      AgentResources shared, FetchPeers peers, Connection connection, Peer peer, long nowNs) {
    super(shared, connection, State.RESOLVING, nowNs);
    this.peers = peers;
    this.peer = peer;
    this.health = peer.health();
    this.handshake = Handshake.ofInitiator(peer.endpoint(), shared.self());
    this.progressNs = nowNs;
  }

  Peer peer() {
    return peer;
  }

  /** Whether it is or was established. */
  boolean isProven() {
    return handshake.isProven();
  }

  // Set-up.

  /** The address is resolved. */
  void create() {
    create(
        MemoryShares.READER_SENDS, MemoryShares.READER_RECEIVES, LocateSender.MESSAGES, Set.of());
  }

  @Override
  protected void onQueuePair() throws VerbsException {
    sender = new LocateSender(this, MemoryShares.READER_RECEIVES);
    wanted = new WantedBlocks(this, sender);
    answers = new LocateAnswers(shared, sender, wanted);
    reads = new ReadPipeline(this, sender, wanted);
    move(State.CONNECTING);
    connection.connect(parameters(shared.settings().attemptTimeout()));
  }

  @Override
  protected void onNoRoom(String detail) {
    peers.attempts().giveUp(this, detail);
  }

  /** The queue pair is connected: sends the REQUEST. */
  void onConnected(long nowNs) {
    if (state() == State.CONNECTING) {
      move(State.PROVING);
      ConnectionBinding binding =
          ConnectionBinding.of(
              shared.fitness().namesQueuePair() ? queuePair.number() : 0,
              connection.localAddress(),
              connection.remoteAddress());
      sendSetup(0, handshake.writeRequest(sender.bytes(0), binding), nowNs);
    }
  }

  private void sendSetup(int message, int lengthBytes, long nowNs) {
    sender.sendSetup(message, lengthBytes, nowNs);
    lastUsedNs = nowNs;
  }

  private void onReply(int buffer, ByteBuffer message, long nowNs) {
    if (!handshake.takeReply(message)) {
      markBroken(FallbackReason.REFUSED, "the reply has no valid proof");
      return;
    }
    shared.counters().increment(Counter.CONNECTIONS_ESTABLISHED);
    postReceive(buffer);
    if (!hasEnded()) {
      sendSetup(1, handshake.writeConfirm(sender.bytes(1)), nowNs);
      move(State.ESTABLISHED);
      peers.onEstablished(this, nowNs);
    }
  }

  @Override
  protected void onMessage(int buffer, ByteBuffer message, long nowNs) {
    int type = Messages.type(message);
    if (type == Messages.REPLY) {
      onReply(buffer, message, nowNs);
    } else if (type == Messages.REFUSAL && state() == State.PROVING) {
      markBroken(FallbackReason.REFUSED, "refused " + SetupMessages.refusal(message));
    } else if (type == Messages.LOCATED && isUsable()) {
      onLocated(buffer, message, nowNs);
    } else if (type == Messages.RELEASED && isUsable()) {
      sender.checkReleased(message);
      postReceive(buffer);
      sender.endRelease();
      wanted.locate(nowNs);
    } else {
      throw new MalformedMessageException("unexpected message: type=" + type);
    }
  }

  // Blocks.

  /** Begins to fetch the first blocks of a request; returns their number. A task. */
  int tryLocate(FetchRequest request, long nowNs) {
    return sender.tryLocate(request, answers, nowNs);
  }

  /** Fetches blocks of a request from an index on. */
  void fetch(FetchRequest request, int from, long nowNs) {
    assert shared.agentThread().holds();
    wanted.locate(request, from, answers, nowNs);
  }

  private void onLocated(int buffer, ByteBuffer answer, long nowNs) {
    ReadBatch batch = answers.take(answer, reads, nowNs);
    long requestId = answers.requestId();
    if (!answers.hadNoRoom()) {
      chargeSlowResult(nowNs);
    }
    // From now on the peer may overwrite the answer.
    postReceive(buffer);
    long askedNs = sender.endAnswer(requestId, nowNs);
    if (answers.hadNoRoom()) {
      peers.onVainAnswer(this, askedNs, nowNs);
    }
    reads.begin(batch, nowNs);
    wanted.locate(nowNs);
    onProgress(nowNs);
  }

  @Override
  protected void onRetired(Object use, long nowNs) {
    lastUsedNs = nowNs;
    if (use instanceof ReadBatch batch) {
      if (!suspect) {
        health.onResult(nowNs);
      }
      chargeSlowResult(nowNs);
      reads.onReadDone(batch, nowNs);
      onProgress(nowNs);
    } else {
      sender.onSent(use);
      wanted.locate(nowNs);
    }
  }

  /**
   * Releases its leases when no LOCATE has taken them along for a while.
   *
   * @return false when it must be called again
   */
  boolean releaseLeases(long nowNs) {
    return hasEnded() || sender.releaseLeases(nowNs);
  }

  // Waits.

  /** The longest wait for it that may begin now; 0 when blocks use TCP. Safe for any thread. */
  long limitNs() {
    return limitNs;
  }

  void setLimit(long newLimitNs) {
    limitNs = newLimitNs;
  }

  /** Whether the next request is for TCP. Safe for any thread. */
  boolean wantsProbe() {
    return wantsProbe;
  }

  void setWantsProbe(boolean wants) {
    wantsProbe = wants;
  }

  /** Whether it makes no progress. */
  boolean isSuspect() {
    return suspect;
  }

  /** Adds the chunks that its READs may write. */
  void addHeldChunks(Set<RegisteredChunk> to) {
    reads.addHeldChunks(to);
  }

  /** Time since which it has been suspect. */
  long suspectNs() {
    return suspectNs;
  }

  /** Before a message or READ counts as done: what was waited for it too long is not free. */
  private void chargeSlowResult(long nowNs) {
    if (!suspect && nowNs - progressNs > health.freeNs()) {
      long sinceNs = later(oldestNs(nowNs), progressNs);
      if (nowNs - sinceNs > health.freeNs()) {
        peers.onSlowResult(this, sinceNs, nowNs);
      }
    }
  }

  /** A block had no end in time, however often the peer has answered. */
  void onEndlessBlock(long nowNs) {
    peers.onVainAnswer(this, nowNs - WaitBudgets.PEER_NS, nowNs);
  }

  private void onProgress(long nowNs) {
    progressNs = nowNs;
    if (suspect && oldestNs(nowNs) == nowNs) {
      // All that was begun has ended.
      suspect = false;
      health.onRecovered(waitedSinceNs, nowNs);
      limitNs = health.limitNs(nowNs);
    }
  }

  /** Time since which its oldest block has been wanted, located or read; otherwise now. */
  private long oldestNs(long nowNs) {
    return wanted.oldestNs(sender.oldestNs(reads.oldestNs(nowNs)));
  }

  /** The agent has come late by this time: nobody has waited for the peer meanwhile. */
  void onLate(long lateNs) {
    long nowNs = shared.work().nowNs();
    long oldestNs = oldestNs(nowNs);
    if (oldestNs - nowNs < 0) {
      // A task may have sent its LOCATE meanwhile.
      long waitedNs = nowNs - later(oldestNs, progressNs);
      progressNs = nowNs - Math.max(0, waitedNs - lateNs);
    }
  }

  private static long later(long oneNs, long otherNs) {
    return oneNs - otherNs > 0 ? oneNs : otherNs;
  }

  /** Leaves its blocks to TCP when they wait too long; returns whether some are waited for. */
  boolean checkWait(long nowNs) {
    long oldestNs = oldestNs(nowNs);
    boolean open = oldestNs - nowNs < 0;
    long sinceNs = later(oldestNs, progressNs);
    boolean over = open && !suspect && health.isOver(sinceNs, nowNs);
    // It may have had only blocks that no LOCATE has named: no end of anything follows.
    suspect &= open;
    if (over) {
      suspect = true;
      suspectNs = nowNs;
      waitedSinceNs = sinceNs;
      peers.onSuspect(this, sinceNs, nowNs);
    }
    if (suspect && !hasEnded()) {
      // A task may have located others meanwhile.
      leaveToTcp(FallbackReason.SLOW_PEER, "peer makes no progress");
      reads.hedge(FallbackReason.SLOW_PEER, "peer makes no progress", nowNs);
    }
    limitNs = suspect ? 0 : health.limitNs(nowNs);
    return open;
  }

  // Deadlines and the end.

  @Override
  boolean isBusy() {
    return !isUsable() || isWorking();
  }

  private boolean isWorking() {
    return reads.isWorking() || !wanted.isEmpty() || answers.hasWaiting() || sender.isWorking();
  }

  @Override
  void onTick(long nowNs) {
    if (!isUsable()) {
      return;
    }
    String overdue = overdue(nowNs);
    if (overdue != null) {
      markBroken(FallbackReason.TIMEOUT, overdue);
      return;
    }
    reads.endLate(nowNs);
    wanted.leaveLateToTcp(nowNs);
    // After its first fetch, an executor asks itself for nothing more.
    boolean isToItself = peer.endpoint().incarnation() == shared.self().endpoint().incarnation();
    long idleNs = isToItself ? 0 : shared.settings().idleTimeout().toNanos();
    if (nowNs - lastUsedNs > idleNs) {
      endUnused("idle");
    }
  }

  /** Ends it unless it has work; no task can begin a request between the two. */
  void endUnused(String detail) {
    sends.lock();
    try {
      if (!isBusy()) {
        markBroken(null, detail);
      }
    } finally {
      sends.unlock();
    }
  }

  private String overdue(long nowNs) {
    long timeoutNs = shared.settings().requestTimeout().toNanos();
    sends.lock();
    try {
      // The device may not have taken all of them before.
      sends.post();
      if (sender.isOverdue(nowNs)) {
        return "no answer in time";
      }
      if (sends.isStalled(nowNs, timeoutNs)) {
        return "peer receives no messages";
      }
    } finally {
      sends.unlock();
    }
    return reads.isOverdue(nowNs, timeoutNs) ? "READs did not complete in time" : null;
  }

  @Override
  protected void onBroken(FallbackReason reason, String detail) {
    // Without open blocks the peer may have ended, or closed an unused connection.
    long nowNs = shared.work().nowNs();
    long sinceNs = nowNs;
    boolean unused = isProven() && reason == FallbackReason.LOST_PEER && !reads.isWorking();
    if (sender != null) {
      sinceNs = later(oldestNs(nowNs), progressNs);
      // Only the block whose data are corrupt counts as such.
      boolean lost = reason == null || reason == FallbackReason.CORRUPT;
      FallbackReason of = lost ? FallbackReason.LOST_PEER : reason;
      unused &= !leaveToTcp(of, detail);
      reads.leaveToTcp(of, detail);
    }
    peers.onBroken(this, unused ? null : reason, detail, sinceNs);
  }

  /** Its blocks that are not read use TCP; returns whether there are some. */
  private boolean leaveToTcp(FallbackReason reason, String detail) {
    List<BlockFetch> blocks = answers.waiting();
    blocks.addAll(sender.asked());
    blocks.addAll(wanted.takeAll());
    for (BlockFetch block : blocks) {
      block.leaveToTcp(reason, detail);
    }
    return !blocks.isEmpty();
  }

  @Override
  protected void onDestroyed() {
    if (reads != null) {
      reads.onDestroyed();
    }
    peers.onDestroyed(this);
  }
}
