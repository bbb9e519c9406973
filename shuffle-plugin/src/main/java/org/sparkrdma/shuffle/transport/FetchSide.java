// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Release;

/**
 * The fetching half of a connection: sends LOCATEs, posts READs, delivers the data and releases
 * leases. Owned by the agent.
 *
 * <pre>
 *  wanted ──LOCATE──► open ──LOCATED──► batch of READs ──done──► delivered
 *    ▲                  │ rest not located    │ rest of a block
 *    ├──────────────────┴──────────────────┤
 *    └──memory reserved── waiting ◄────────┘ no receive memory
 * </pre>
 */
final class FetchSide {
  private static final long LEASE_MARGIN_MS = 1_000;

  /** Maximum time that blocks wait for buffers of messages. Then they use TCP. */
  private static final long MAX_BUFFER_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(30);

  /** So many bytes are worth a hand-over before the batch is done. */
  private static final long EARLY_BYTES = SendQueue.SIGNAL_BYTES;

  private final TransportContext context;
  private final OpenRequests requests;
  private final Runnable onServed;
  private final LocatedReader reader;
  private final Located.Decoder located = new Located.Decoder();
  private final FetchDeadlines deadlines;
  private final WantedBlocks wanted = new WantedBlocks();
  private final OpenBatches batches = new OpenBatches();
  private final ReadQueue reads;
  private final Runnable requestTurn;
  private final Consumer<BlockProgress> waitForMemory = this::waitForMemory;

  /** The batch that the last completed READ belongs to, unless it is done; else null. */
  private ReadBatch partlyRead;

  private boolean waitingForRoom;
  private boolean shortOfBuffers;
  private long shortOfBuffersSinceNs;

  /**
   * @param onServed called when READs of an answer have completed
   * @param requestTurn called when READs that waited for other connections may be posted
   */
  FetchSide(
      TransportContext context,
      SendQueue sends,
      ConnectionBuffers buffers,
      PostedReceives receives,
      Runnable onServed,
      Runnable requestTurn) {
    this.context = context;
    this.requests = new OpenRequests(context, sends, buffers, receives);
    this.onServed = onServed;
    this.reads = new ReadQueue(context, sends, requestTurn);
    this.requestTurn = requestTurn;
    this.reader =
        new LocatedReader(
            context.receive(), context.readPool(), context.settings().verify(), this::onReadDone);
    this.deadlines = new FetchDeadlines(context, sends, requests, batches, reads);
  }

  void fetch(BlockProgress block) {
    assert context.owner().holds();
    wanted.add(block);
  }

  /** Fetches blocks, in their order. */
  void fetch(List<BlockProgress> blocks) {
    assert context.owner().holds();
    wanted.add(blocks);
  }

  boolean isIdle() {
    return wanted.isEmpty() && requests.isEmpty() && batches.isEmpty();
  }

  /** Posts all possible requests; the caller flushes the send queue. */
  void pump(long nowNs) {
    assert context.owner().holds();
    reads.post(nowNs);
    wanted.queueReady();
    waitingForRoom &= holdsLeases();
    boolean haveBuffers = true;
    while (haveBuffers && wanted.areQueued() && !waitingForRoom && requests.mayLocate()) {
      haveBuffers = requests.tryLocate(wanted.queue(), nowNs, holdsLeases());
    }
    // Without buffers for a LOCATE, a RELEASE has those of a reserve.
    boolean blocksWait = haveBuffers && wanted.areQueued() && !waitingForRoom;
    requests.noteLeaseWait(nowNs);
    if (requests.mayRelease(blocksWait, nowNs)) {
      haveBuffers &= requests.tryRelease(blocksWait, nowNs);
    }
    checkBuffers(haveBuffers, nowNs);
  }

  /** Blocks that waited too long for buffers of messages use TCP; a RELEASE waits on. */
  private void checkBuffers(boolean haveBuffers, long nowNs) {
    if (!haveBuffers && !shortOfBuffers) {
      shortOfBuffersSinceNs = nowNs;
    }
    shortOfBuffers = !haveBuffers;
    if (shortOfBuffers && nowNs - shortOfBuffersSinceNs >= MAX_BUFFER_WAIT_NS) {
      List<BlockProgress> unasked = wanted.takeQueued();
      unasked.forEach(
          block -> block.fail(FallbackReason.POOL_EMPTY, "no memory for control messages"));
    }
  }

  /** Returns the credits that the peer has granted; the caller flushes the send queue. */
  void returnCredits() {
    requests.returnCredits();
  }

  private boolean holdsLeases() {
    return !batches.isEmpty() || requests.hasLeases();
  }

  /** A block that waited has memory now. */
  void onMemory(BlockProgress block) {
    wanted.onMemory(block);
    requestTurn.run();
  }

  /** A block that waited for memory has failed. */
  void onNoMemory(BlockProgress block) {
    wanted.onNoMemory(block);
    requestTurn.run();
  }

  /** Whether requests wait for buffers; they are tried again at ticks. */
  boolean isShortOfBuffers() {
    return shortOfBuffers;
  }

  /** Whether leases wait for a LOCATE that releases them, or for a RELEASE at a tick. */
  boolean hasLeasesToRelease() {
    return requests.hasLeasesToRelease();
  }

  /** A RELEASED was received. */
  void onReleased(ByteBuffer message) {
    assert context.owner().holds();
    deadlines.onReceived();
    Release answer = Release.decodeAnswer(message);
    waitingForRoom &= !requests.takeReleased(answer.requestId(), answer.credits());
  }

  /** A LOCATED was received. */
  void onLocated(ByteBuffer message, long nowNs) {
    assert context.owner().holds();
    deadlines.onReceived();
    located.begin(message);
    OpenRequest request = requests.openLocate(located.requestId());
    if (holdsLease(located.leaseId())) {
      throw new MalformedMessageException("bad LOCATED: lease of another answer");
    }
    long timeoutNs = context.settings().requestTimeout().toNanos();
    long askedNs = request.deadlineNs() - timeoutNs;
    ReadBatch batch = context.readPool().batch(located.leaseId(), askedNs, nowNs + timeoutNs);
    long leaseMs = located.leaseRemainingMs();
    if (located.leaseId() != 0 && leaseMs < timeoutNs / 1_000_000 + LEASE_MARGIN_MS) {
      requests.closeLocate(request);
      String detail = "lease shorter than the request time-out: leaseMs=" + leaseMs;
      request.blocks().forEach(block -> block.fail(FallbackReason.TIMEOUT, detail));
    } else {
      readBlocks(request, batch);
    }
    context.readPool().recycle(request.takeBlocks());
    batches.add(batch);
    if (!batch.hasReads()) {
      batchDone(batch);
    }
  }

  private boolean holdsLease(long leaseId) {
    return leaseId != 0 && (requests.isToBeReleased(leaseId) || batches.hold(leaseId));
  }

  private void readBlocks(OpenRequest request, ReadBatch batch) {
    // Waiting can help when leases of this connection occupy the room.
    boolean mayWait =
        request.heldLeases() || !batches.isEmpty() || requests.hasLeasesBeside(request);
    LocatedOutcome outcome = reader.read(located, request.blocks(), mayWait, batch);
    requests.closeLocate(request);
    batch.takeWithoutMemory(waitForMemory);
    reads.add(outcome.reads());
    outcome.refused().forEach(this::sendToTcp);
    wanted.addFirst(outcome.askAgain());
    deadlines.onAnswer(batch, wanted);
    outcome.tooLong().forEach(this::failTooLong);
    waitingForRoom |= outcome.isPeerBusy();
    if (!outcome.isPeerBusy()) {
      requests.onAnswerLength(request.blocks().size(), outcome.askAgain().size());
    }
    outcome.clear();
  }

  private void waitForMemory(BlockProgress block) {
    block.commitPart();
    wanted.onWait(block);
    block.awaitMemory(context.receive(), this, context.nanoClock().getAsLong());
  }

  private void sendToTcp(BlockProgress block, Located.Kind kind) {
    FallbackReason reason =
        switch (kind) {
          case BUSY -> FallbackReason.PEER_BUSY;
          case OVERLOADED -> FallbackReason.PEER_OVERLOADED;
          default -> FallbackReason.PEER_UNKNOWN_BLOCK;
        };
    block.fail(reason, "peer answered " + kind);
  }

  private void failTooLong(BlockProgress block) {
    block.fail(FallbackReason.POOL_EMPTY, "block larger than the receive pool");
  }

  private void onReadDone(ReadBatch batch, int lengthBytes) {
    assert context.owner().holds();
    deadlines.onReceived();
    reads.onReadDone(lengthBytes);
    if (batch.markReadDone(lengthBytes)) {
      partlyRead = null;
      batchDone(batch);
    } else if (partlyRead != batch) {
      partlyRead = batch;
    }
  }

  /**
   * Delivers blocks of a batch whose later READs have not completed, so that tasks need not wait
   * for these. Called when all completions of a poll are handled: each hand-over may wake up a
   * task, and an agent that was not scheduled for a while finds several completions.
   */
  void deliverWholeBlocks() {
    assert context.owner().holds();
    if (partlyRead != null && partlyRead.bytesRead() >= EARLY_BYTES) {
      List<BlockProgress> whole = context.readPool().blocks();
      partlyRead.takeComplete(whole);
      for (int i = 0; i < whole.size(); i++) {
        whole.get(i).commitPart();
      }
      deliver(whole);
    }
    partlyRead = null;
  }

  private void deliver(List<BlockProgress> whole) {
    for (int i = 0; i < whole.size(); i++) {
      whole.get(i).deliver();
    }
    context.readPool().recycle(whole);
  }

  private void batchDone(ReadBatch batch) {
    if (batch.anyRead()) {
      onServed.run();
    }
    batches.remove(batch);
    if (batch.leaseId() != 0) {
      requests.queueRelease(batch.leaseId());
    }
    List<BlockProgress> whole = context.readPool().blocks();
    List<BlockProgress> unfinished = List.of();
    List<BlockProgress> read = batch.blocks();
    for (int i = 0; i < read.size(); i++) {
      BlockProgress block = read.get(i);
      if (block.isTest()) {
        block.abandon();
        continue;
      }
      block.commitPart();
      if (!block.isComplete() && deadlines.failIfOverdue(block, batch)) {
        continue;
      }
      if (block.isComplete()) {
        whole.add(block);
      } else {
        unfinished = unfinished.isEmpty() ? new ArrayList<>() : unfinished;
        unfinished.add(block);
      }
    }
    context.readPool().recycle(batch);
    // A block that already holds memory goes first, before others use the rest.
    wanted.addFirst(unfinished);
    deliver(whole);
  }

  /** The cause when a request timed out, else null. The caller flushes the send queue. */
  BrokenConnection expired(long nowNs) {
    return deadlines.expired(nowNs);
  }

  /** Time for which the peer has been silent, for log lines. */
  String silence() {
    return deadlines.silence();
  }

  /** Posts no more READs, and keeps none of other connections waiting. */
  void stopPosting() {
    assert context.owner().holds();
    reads.stop();
  }

  /** A new list of its blocks. */
  List<BlockProgress> blocks() {
    assert context.owner().holds();
    List<BlockProgress> blocks = wanted.all();
    blocks.addAll(deadlines.blocksUnderWay());
    return blocks;
  }

  /**
   * Ends all requests after the queue pair is destroyed: releases the sinks and returns the blocks.
   */
  List<BlockProgress> abandon() {
    assert context.owner().holds();
    deliverWholeBlocks();
    wanted.cancelWaits(context.receive());
    List<BlockProgress> left = wanted.takeAll();
    left.addAll(deadlines.blocksUnderWay());
    requests.abandon();
    left.forEach(BlockProgress::abandon);
    batches.clear();
    reads.clear();
    return left;
  }
}
