// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.fetch.BlockRanges;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchedBlock;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;

/**
 * The reader's end of a connection: sends LOCATEs, posts READs, hands whole blocks to their request
 * and releases leases. It has two slots for messages, and a receive for the answer of each.
 *
 * <p>The lock of the send queue guards the slots and the leases to release, so that a task may send
 * a LOCATE itself; all else is confined to the agent.
 */
final class ReadConnection extends RdmaConnection {
  private static final int SLOTS = 2;
  private static final int RECEIVES = SLOTS;

  /** Power of two of entries, so that the ring has no unused ones. */
  static final int SEND_DEPTH = 64;

  /** Entries that READs leave to messages. */
  private static final int MESSAGE_ENTRIES = 2 * SLOTS;

  /** The answer has room for as many with a checksum each. */
  static final int MAX_BLOCKS = 128;

  private static final int MAX_LEASES_IN_LOCATE = 256;
  private static final long LEASE_DELAY_NS = 5_000_000;
  private static final long LEASE_MARGIN_MS = 1_000;

  /** READs without progress for so long leave the window. */
  private static final long STALL_NS = 1_000_000_000;

  /** 1 MB/s: a long block that comes more slowly uses TCP. */
  private static final long NS_PER_BYTE = 1_000;

  /** Buffer of a message that is sent, and the blocks that a LOCATE in it names. */
  private static final class Slot {
    private final RegisteredChunk chunk;
    private final ByteBuffer bytes;
    private long id;

    /** Null unless the message is a LOCATE. */
    private BlockRead[] blocks;

    private boolean sending;
    private boolean awaitsAnswer;
    private long askedNs;

    Slot(RegisteredChunk chunk) {
      this.chunk = chunk;
      this.bytes = chunk.slice(0, chunk.lengthBytes());
    }

    boolean isFree() {
      return !sending && !awaitsAnswer;
    }
  }

  private final ReadPeers peers;
  private final Peer peer;
  private final Handshake handshake;
  private final long timeoutNs;
  private final Locate.Encoder locate = new Locate.Encoder();
  private final Located.Decoder located = new Located.Decoder();

  private final ArrayDeque<BlockRead> wanted = new ArrayDeque<>();
  private final List<ReadBatch> batches = new ArrayList<>();

  /** A batch that is done, for the next answer; null without one. */
  private ReadBatch spare;

  /** Batches with READs to post. */
  private final ArrayDeque<ReadBatch> unposted = new ArrayDeque<>();

  private final List<BlockRead> leftOut = new ArrayList<>();

  /** Blocks that wait for memory. */
  private final List<BlockRead> waiting = new ArrayList<>();

  /** Blocks whose memory is released when the queue pair is destroyed. */
  private final List<BlockRead> abandoned = new ArrayList<>();

  private Slot[] slots = {};
  private long messages;
  private long[] leases = new long[4];
  private int leaseCount;
  private long releaseDueNs;
  private boolean releaseOpen;

  /** Whether the agent calls {@link #releaseLeases} at its ticks. */
  private boolean isReleasing;

  /** Whether it waits for its turn in {@link ReadWindow}. */
  private boolean waitsForWindow;

  /** Times at which READs were posted, by their numbers; they complete in order. */
  private final long[] postedNs = new long[SEND_DEPTH];

  private int readsPosted;
  private int readsDone;

  /** Bytes of posted READs that the window counts. */
  private long windowBytes;

  /**
   * Bytes of posted READs that have left the window, because they made no progress. They complete
   * before later ones, and none is posted until then.
   */
  private long stalledBytes;

  ReadConnection(
      ConnectionResources context, ReadPeers peers, Connection connection, Peer peer, long nowNs) {
    super(context, connection, State.RESOLVING, nowNs);
    this.peers = peers;
    this.peer = peer;
    this.handshake = Handshake.ofInitiator(peer.endpoint(), context.self());
    this.timeoutNs = context.settings().requestTimeout().toNanos();
  }

  Peer peer() {
    return peer;
  }

  /** Whether it is or was established. */
  boolean isProven() {
    return handshake.isProven();
  }

  // Set-up.

  /**
   * The address is resolved: connects the queue pair.
   *
   * @return false when there is no memory
   * @throws VerbsException when the device refuses
   */
  boolean connect() throws VerbsException {
    if (!prepare(SEND_DEPTH, RECEIVES, SLOTS, Set.of())) {
      return false;
    }
    slots = new Slot[] {new Slot(buffer(RECEIVES)), new Slot(buffer(RECEIVES + 1))};
    move(State.CONNECTING);
    connection.connect(parameters(context.settings().attemptTimeout()));
    return true;
  }

  /** The queue pair is connected: sends the REQUEST. */
  void onConnected(long nowNs) {
    if (state() == State.CONNECTING) {
      move(State.PROVING);
      ConnectionBinding binding =
          ConnectionBinding.of(
              context.requestHasQueuePair() ? queuePair.number() : 0,
              connection.localAddress(),
              connection.remoteAddress());
      sendSetup(0, handshake.writeRequest(slots[0].bytes, binding), nowNs);
    }
  }

  private void sendSetup(int slot, int lengthBytes, long nowNs) {
    sends.lock();
    try {
      slots[slot].sending = true;
      sends.send(slots[slot].chunk, lengthBytes, slots[slot], nowNs);
    } finally {
      sends.unlock();
    }
    lastUsedNs = nowNs;
  }

  private void onReply(int buffer, ByteBuffer message, long nowNs) {
    if (!handshake.takeReply(message)) {
      peers.onRefused(this, "the reply has no valid proof");
      return;
    }
    postReceive(buffer);
    sendSetup(1, handshake.writeConfirm(slots[1].bytes), nowNs);
    if (!hasEnded()) {
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
      peers.onRefused(this, "refused " + Messages.refusal(message));
    } else if (type == Messages.LOCATED && isUsable()) {
      onLocated(buffer, message, nowNs);
    } else if (type == Messages.RELEASED && isUsable()) {
      onReleased(buffer, message);
    } else {
      throw new MalformedMessageException("unexpected message: type=" + type);
    }
  }

  // LOCATE.

  /**
   * Sends a LOCATE of the first blocks of a request, unless the send queue or the slots are busy. A
   * task.
   *
   * @return number of blocks that it names
   */
  int tryLocate(FetchRequest request, long nowNs) {
    if (!sends.tryLock()) {
      return 0;
    }
    try {
      Slot slot = nextSlot();
      if (slot == null) {
        return 0;
      }
      int count = Math.min(MAX_BLOCKS, request.ranges().size());
      begin(slot, count);
      for (int i = 0; i < count; i++) {
        add(slot, i, new BlockRead(this, request, i), nowNs);
      }
      post(slot, locate.finish(), nowNs);
      return count;
    } finally {
      sends.unlock();
    }
  }

  /** Locates blocks of a request from an index on. */
  void fetch(FetchRequest request, int from, long nowNs) {
    assert context.owner().holds();
    for (int i = from; i < request.ranges().size(); i++) {
      BlockRead block = new BlockRead(this, request, i);
      block.onWanted(nowNs);
      wanted.add(block);
    }
    locateWanted(nowNs);
  }

  private void locateWanted(long nowNs) {
    if (wanted.isEmpty()) {
      return;
    }
    sends.lock();
    try {
      Slot slot = nextSlot();
      while (slot != null && !wanted.isEmpty()) {
        int count = Math.min(MAX_BLOCKS, wanted.size());
        begin(slot, count);
        for (int i = 0; i < count; i++) {
          add(slot, i, wanted.poll(), nowNs);
        }
        post(slot, locate.finish(), nowNs);
        slot = nextSlot();
      }
    } finally {
      sends.unlock();
    }
    context.connections().expectCompletion(nowNs);
  }

  private Slot nextSlot() {
    return isUsable() && sends.room() > 0 && sends.canGather() ? freeSlot() : null;
  }

  private Slot freeSlot() {
    for (Slot slot : slots) {
      if (slot.isFree()) {
        return slot;
      }
    }
    return null;
  }

  /** Begins a LOCATE, which takes leases along. */
  private void begin(Slot slot, int count) {
    slot.id = nextId(slot);
    slot.blocks = new BlockRead[count];
    locate.begin(slot.bytes, slot.id, (int) TimeUnit.NANOSECONDS.toMillis(timeoutNs));
    int taken = Math.min(leaseCount, MAX_LEASES_IN_LOCATE);
    for (int i = 0; i < taken; i++) {
      locate.lease(leases[i]);
    }
    dropLeases(taken);
  }

  private long nextId(Slot slot) {
    return messages++ * SLOTS + (slot == slots[0] ? 0 : 1);
  }

  private void add(Slot slot, int i, BlockRead block, long nowNs) {
    FetchRequest request = block.request();
    BlockRanges ranges = request.ranges();
    int at = block.index();
    locate.block(
        ranges.shuffleId(at),
        ranges.mapId(at),
        ranges.startReduceId(at),
        ranges.endReduceId(at),
        block.locatedBytes(),
        request.needsFreshSums(at));
    block.onAsked(nowNs);
    slot.blocks[i] = block;
  }

  /** The slot is published by the lock before its message is posted. */
  private void post(Slot slot, int lengthBytes, long nowNs) {
    slot.sending = true;
    slot.awaitsAnswer = true;
    slot.askedNs = nowNs;
    sends.send(slot.chunk, lengthBytes, slot, nowNs);
  }

  // LOCATED.

  private void onLocated(int buffer, ByteBuffer message, long nowNs) {
    located.begin(message);
    Slot slot = slotOf(located.requestId());
    BlockRead[] asked = slot.blocks;
    ReadBatch batch = spare == null ? new ReadBatch(asked.length) : spare;
    spare = null;
    long leaseNs = TimeUnit.MILLISECONDS.toNanos(located.leaseRemainingMs() - LEASE_MARGIN_MS);
    // A READ that is posted last has its time before the lease ends, too.
    batch.begin(located.leaseId(), nowNs + Math.min(timeoutNs, leaseNs - timeoutNs));
    batches.add(batch);
    if (located.leaseId() != 0 && leaseNs < timeoutNs) {
      for (BlockRead block : asked) {
        block.fail(FallbackReason.TIMEOUT, "lease shorter than the request time-out");
        // READs of earlier answers are done.
        block.releaseMemory();
      }
    } else {
      readPieces(asked, batch, nowNs);
    }
    postReceive(buffer);
    sends.lock();
    try {
      slot.awaitsAnswer = false;
      slot.blocks = null;
      context.connections().onLocated(nowNs - slot.askedNs);
    } finally {
      sends.unlock();
    }
    if (batch.nextRead() >= 0) {
      unposted.add(batch);
    }
    if (!waitsForWindow) {
      postReads(false);
    }
    passOn(batch, nowNs);
    locateWanted(nowNs);
  }

  private Slot slotOf(long id) {
    Slot slot = slots[(int) (id & 1)];
    sends.lock();
    try {
      if (!slot.awaitsAnswer || slot.blocks == null || slot.id != id) {
        throw new MalformedMessageException("bad LOCATED: unknown requestId");
      }
      return slot;
    } finally {
      sends.unlock();
    }
  }

  private void readPieces(BlockRead[] asked, ReadBatch batch, long nowNs) {
    int current = -1;
    boolean ended = false;
    while (located.nextPiece()) {
      int next = located.blockIndex();
      if (next < current || next >= asked.length || (next == current && ended)) {
        throw new MalformedMessageException("bad LOCATED: blockIndex=" + next);
      }
      if (next > current) {
        endBlock(asked, current, batch);
        leaveOut(asked, current + 1, next, nowNs);
        current = next;
      }
      ended = located.kind() != Located.Kind.LOCATED;
      if (!ended) {
        takePiece(asked[next], batch, nowNs);
      } else {
        sendToTcp(asked[next], located.kind());
      }
    }
    if (current < 0) {
      throw new MalformedMessageException("bad LOCATED: no piece");
    }
    endBlock(asked, current, batch);
    leaveOut(asked, current + 1, asked.length, nowNs);
    wantLeftOut();
  }

  /** All pieces of a block in this answer are known. */
  private static void endBlock(BlockRead[] asked, int index, ReadBatch batch) {
    if (index >= 0 && !asked[index].waitsForMemory()) {
      asked[index].endAnswer(batch);
    }
  }

  private void wantLeftOut() {
    for (int i = leftOut.size() - 1; i >= 0; i--) {
      wanted.addFirst(leftOut.get(i));
    }
    leftOut.clear();
  }

  private void leaveOut(BlockRead[] asked, int from, int to, long nowNs) {
    for (int i = from; i < to; i++) {
      askForRest(asked[i], nowNs);
    }
  }

  /** The block or its rest is located by the next LOCATE, unless that has taken too long. */
  private void askForRest(BlockRead block, long nowNs) {
    long maxAgeNs = timeoutNs + NS_PER_BYTE * block.locatedBytes();
    if (block.ageNs(nowNs) > maxAgeNs) {
      block.fail(FallbackReason.TIMEOUT, "answers come too slowly");
      block.releaseMemory();
    } else {
      block.onWanted(nowNs);
      leftOut.add(block);
    }
  }

  private void sendToTcp(BlockRead block, Located.Kind kind) {
    FallbackReason reason =
        switch (kind) {
          case BUSY -> FallbackReason.PEER_BUSY;
          case OVERLOADED -> FallbackReason.PEER_OVERLOADED;
          default -> FallbackReason.PEER_UNKNOWN_BLOCK;
        };
    if (waiting.remove(block)) {
      context.sinks().cancel(block);
    }
    block.fail(reason, "peer answered " + kind);
  }

  /** Reads the piece at which the answer stands, unless its block is settled or has no memory. */
  private void takePiece(BlockRead block, ReadBatch batch, long nowNs) {
    if (block.isSettled() || block.waitsForMemory()) {
      return;
    }
    if (located.leaseId() == 0 && located.lengthBytes() > 0) {
      throw new MalformedMessageException("bad LOCATED: piece without a lease");
    }
    if (block.memory() == null && !tryTakeMemory(block, nowNs)) {
      return;
    }
    int length = located.lengthBytes();
    if (located.blockBytes() != block.blockBytes()
        || located.blockOffset() != block.locatedBytes()
        || (length == 0 && block.blockBytes() != 0)) {
      throw new MalformedMessageException("bad LOCATED: piece out of order");
    }
    block.read(located, batch);
  }

  /** Takes memory for a block of which a piece is located first, or lets it wait, or use TCP. */
  private boolean tryTakeMemory(BlockRead block, long nowNs) {
    long bytes = located.blockBytes();
    if (!context.sinks().canFit(bytes)) {
      block.fail(FallbackReason.POOL_EMPTY, "block larger than the receive memory");
      return false;
    }
    FetchedBlock memory = context.sinks().tryTake(bytes);
    if (memory == null) {
      block.await(bytes, nowNs);
      waiting.add(block);
      context.sinks().await(block);
      return false;
    }
    block.setMemory(memory, bytes);
    return true;
  }

  /** A block that waited for memory has it, or has waited too long. */
  void onMemory(BlockRead block) {
    waiting.remove(block);
    if (block.memory() == null) {
      block.fail(FallbackReason.POOL_EMPTY, "no receive memory in time");
    } else {
      long nowNs = context.connections().nowNs();
      block.onWanted(nowNs);
      // It holds memory for which other blocks wait.
      wanted.addFirst(block);
      locateWanted(nowNs);
    }
  }

  // READ.

  /**
   * Posts READs as far as the send queue and the window have room.
   *
   * @param first whether it is the first connection that waits for the window
   * @return false when it must still wait for the window
   */
  boolean postReads(boolean first) {
    if (hasEnded() || stalledBytes > 0) {
      waitsForWindow = false;
      return true;
    }
    long nowNs = context.connections().nowNs();
    int posted = 0;
    boolean hasWindow = true;
    sends.lock();
    try {
      while (hasWindow && !unposted.isEmpty() && sends.room() > MESSAGE_ENTRIES) {
        ReadBatch batch = unposted.peek();
        int read = batch.nextRead();
        if (!sends.canGather()) {
          break;
        } else if (context.window().tryTake(this, batch.lengthBytes(read), first)) {
          sends.read(batch, read, nowNs);
          batch.onPosted(nowNs);
          windowBytes += batch.lengthBytes(read);
          postedNs[readsPosted++ & SEND_DEPTH - 1] = nowNs;
          posted++;
          if (batch.nextRead() < 0) {
            unposted.poll();
          }
        } else {
          hasWindow = false;
        }
      }
      sends.post();
    } finally {
      sends.unlock();
    }
    waitsForWindow = !hasWindow;
    if (posted > 0) {
      context.counters().add(Counter.RDMA_READS_POSTED, posted);
      context.connections().expectCompletion(nowNs);
    }
    return hasWindow;
  }

  @Override
  protected void onRetired(Object owner, long nowNs) {
    lastUsedNs = nowNs;
    if (owner instanceof ReadBatch batch) {
      readsDone++;
      int bytes = batch.onReadDone();
      if (stalledBytes > 0) {
        stalledBytes -= bytes;
      } else {
        leaveWindow(bytes);
      }
      if (batch.readsDone() == 1) {
        context.counters().readLatency().record(nowNs - batch.postedNs());
      }
      passOn(batch, nowNs);
      if (!unposted.isEmpty() && !waitsForWindow) {
        postReads(false);
      }
    } else {
      sends.lock();
      try {
        ((Slot) owner).sending = false;
      } finally {
        sends.unlock();
      }
      locateWanted(nowNs);
    }
  }

  private void leaveWindow(long bytes) {
    windowBytes -= bytes;
    context.window().release(bytes);
  }

  /** Hands whole blocks to their requests, asks for the rest of others, and ends the batch. */
  private void passOn(ReadBatch batch, long nowNs) {
    BlockRead block = batch.pollDone();
    while (block != null) {
      if (block.isSettled()) {
        block.releaseMemory();
      } else if (block.isLocated()) {
        block.deliver();
        peer.onRead();
      } else {
        askForRest(block, nowNs);
      }
      block = batch.pollDone();
    }
    if (batch.isDone() && batches.remove(batch)) {
      if (batch.leaseId() != 0) {
        // The next LOCATE takes it along.
        addLease(batch.leaseId(), nowNs);
      }
      batch.clear();
      spare = batch;
    }
    if (!leftOut.isEmpty()) {
      wantLeftOut();
      locateWanted(nowNs);
    }
  }

  // RELEASE.

  private void addLease(long lease, long nowNs) {
    sends.lock();
    try {
      if (leaseCount == leases.length) {
        leases = Arrays.copyOf(leases, 2 * leaseCount);
      }
      if (leaseCount == 0) {
        releaseDueNs = nowNs + LEASE_DELAY_NS;
      }
      if (!isReleasing) {
        isReleasing = true;
        context.connections().addReleasing(this);
      }
      leases[leaseCount++] = lease;
    } finally {
      sends.unlock();
    }
  }

  private void dropLeases(int count) {
    leaseCount -= count;
    System.arraycopy(leases, count, leases, 0, leaseCount);
  }

  /**
   * Releases its leases when no LOCATE has taken them along for a while.
   *
   * @return false when it must be called again
   */
  boolean releaseLeases(long nowNs) {
    if (hasEnded()) {
      return true;
    }
    sends.lock();
    try {
      if (leaseCount == 0) {
        isReleasing = false;
        return true;
      }
      Slot slot = nowNs - releaseDueNs < 0 || releaseOpen ? null : nextSlot();
      if (slot == null) {
        return false;
      }
      int count = Math.min(leaseCount, Messages.maxLeases(MessageBuffers.MESSAGE_BYTES));
      ByteBuffer out = Messages.beginRelease(slot.bytes, count);
      for (int i = 0; i < count; i++) {
        out.putLong(leases[i]);
      }
      dropLeases(count);
      slot.blocks = null;
      releaseOpen = true;
      post(slot, out.position(), nowNs);
      isReleasing = leaseCount > 0;
      return !isReleasing;
    } finally {
      sends.unlock();
    }
  }

  private void onReleased(int buffer, ByteBuffer message) {
    Messages.checkReleased(message);
    if (!releaseOpen) {
      throw new MalformedMessageException("RELEASED without a RELEASE");
    }
    postReceive(buffer);
    sends.lock();
    try {
      for (Slot slot : slots) {
        slot.awaitsAnswer &= slot.blocks != null;
      }
      releaseOpen = false;
    } finally {
      sends.unlock();
    }
    locateWanted(context.connections().nowNs());
  }

  // Deadlines and the end.

  @Override
  boolean isBusy() {
    return !isUsable() || isWorking();
  }

  private boolean isWorking() {
    if (!wanted.isEmpty() || !waiting.isEmpty() || !batches.isEmpty()) {
      return true;
    }
    sends.lock();
    try {
      return leaseCount > 0 || !slots[0].isFree() || !slots[1].isFree();
    } finally {
      sends.unlock();
    }
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
    unposted.removeIf(batch -> endIfLate(batch, nowNs));
    // Those that answers leave out are in front of those that were never located.
    wanted.removeIf(block -> failIfLate(block, nowNs));
    if (nowNs - lastUsedNs > context.settings().idleTimeout().toNanos() && !isBusy()) {
      markBroken(null, "idle");
    }
  }

  /** READs that found no room in time are no fault of the peer. */
  private boolean endIfLate(ReadBatch batch, long nowNs) {
    boolean late = nowNs - batch.postUntilNs() > 0;
    if (late) {
      batch.endPosting();
      passOn(batch, nowNs);
    }
    return late;
  }

  private boolean failIfLate(BlockRead block, long nowNs) {
    boolean late = nowNs - block.sinceNs() > timeoutNs;
    if (late) {
      block.fail(FallbackReason.TIMEOUT, "no LOCATE in time");
      block.releaseMemory();
    }
    return late;
  }

  private String overdue(long nowNs) {
    sends.lock();
    try {
      // The device may not have taken all of them before.
      sends.post();
      for (Slot slot : slots) {
        if (slot.awaitsAnswer && nowNs - slot.askedNs > timeoutNs) {
          return "no answer in time";
        }
      }
      if (sends.isStalled(nowNs, timeoutNs)) {
        return "peer receives no messages";
      }
      if (windowBytes > 0 && sends.isStalled(nowNs, STALL_NS)) {
        stalledBytes = windowBytes;
        leaveWindow(windowBytes);
      }
    } finally {
      sends.unlock();
    }
    boolean late =
        readsDone != readsPosted && nowNs - postedNs[readsDone & SEND_DEPTH - 1] > timeoutNs;
    return late ? "READs did not complete in time" : null;
  }

  @Override
  protected void onBroken(FallbackReason reason, String detail) {
    // The peer may have closed an unused connection.
    boolean unused = isProven() && reason == FallbackReason.LOST_PEER && !isWorking();
    for (Slot slot : slots) {
      if (slot.blocks != null) {
        abandoned.addAll(Arrays.asList(slot.blocks));
      }
    }
    for (ReadBatch batch : batches) {
      batch.addUnfinished(abandoned);
    }
    abandoned.addAll(wanted);
    abandoned.addAll(leftOut);
    abandoned.addAll(waiting);
    waiting.forEach(context.sinks()::cancel);
    wanted.clear();
    leftOut.clear();
    waiting.clear();
    FallbackReason of = reason == null ? FallbackReason.LOST_PEER : reason;
    for (BlockRead block : abandoned) {
      block.fail(of, detail);
    }
    peers.onBroken(this, unused ? null : reason, detail);
  }

  @Override
  protected void onDestroyed() {
    context.window().remove(this);
    leaveWindow(windowBytes);
    for (BlockRead block : abandoned) {
      block.releaseMemory();
    }
    abandoned.clear();
    batches.clear();
    peers.onEnded(this);
  }
}
