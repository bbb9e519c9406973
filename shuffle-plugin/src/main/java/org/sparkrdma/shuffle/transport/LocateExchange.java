// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchedBlock;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Messages;

/**
 * The messages of a reader's connection: LOCATEs of blocks, their answers, and the release of
 * leases. It has two for LOCATEs and one for a RELEASE, which may free the memory for which both
 * wait, and a receive for the answer of each.
 *
 * <p>The lock of the send queue guards the messages and the leases to release, so that a task may
 * send a LOCATE itself; all else is confined to the agent.
 */
final class LocateExchange {
  /** Number of messages. */
  static final int MESSAGES = 3;

  /** Those for LOCATEs; the last one is for a RELEASE. */
  private static final int LOCATES = 2;

  /** The answer has room for as many with a checksum each. */
  private static final int MAX_BLOCKS = 128;

  private static final int MAX_LEASES_IN_LOCATE = 256;
  private static final long LEASE_DELAY_NS = 5_000_000;
  private static final long LEASE_MARGIN_MS = 1_000;

  /** 1 MB/s: a long block that comes more slowly uses TCP. */
  private static final long NS_PER_BYTE = 1_000;

  private final ReadConnection connection;
  private final ConnectionResources context;
  private final SendQueue sends;
  private final OutMessage[] messages;
  private final long timeoutNs;
  private final Locate.Encoder locate = new Locate.Encoder();
  private final Located.Decoder located = new Located.Decoder();

  /** Whether the last answer has blocks for which the peer had no room or time. */
  private boolean noRoom;

  /** The message that {@link #located} answers, also when its receive has another message. */
  private OutMessage answered;

  /** Memory of its blocks that are not delivered. */
  private long heldBytes;

  private final ArrayDeque<BlockRead> wanted = new ArrayDeque<>();
  private long ids;
  private long[] leases = new long[4];
  private int leaseCount;
  private long releaseDueNs;

  /** Whether the agent calls {@link #releaseLeases} at its ticks. */
  private boolean isReleasing;

  /**
   * @param connection that is prepared
   * @param firstBuffer of its buffers: those of the messages
   */
  LocateExchange(ReadConnection connection, int firstBuffer) {
    this.connection = connection;
    this.context = connection.context;
    this.sends = connection.sends;
    this.messages = new OutMessage[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
      messages[i] = new OutMessage(connection.buffer(firstBuffer + i));
    }
    this.timeoutNs = context.settings().requestTimeout().toNanos();
  }

  // Set-up.

  /** Buffer of a message of the set-up. */
  ByteBuffer bytes(int message) {
    return messages[message].bytes();
  }

  /** Sends a message of the set-up. */
  void sendSetup(int message, int lengthBytes, long nowNs) {
    sends.lock();
    try {
      messages[message].send(sends, lengthBytes, false, nowNs);
    } finally {
      sends.unlock();
    }
  }

  // LOCATE.

  /**
   * Sends a LOCATE of the first blocks of a request, unless the send queue or the messages are
   * busy. A task.
   *
   * @return number of blocks that it names
   */
  int tryLocate(FetchRequest request, long nowNs) {
    if (!sends.tryLock()) {
      return 0;
    }
    try {
      OutMessage message = messageForLocate();
      if (message == null) {
        return 0;
      }
      BlockRead[] blocks = new BlockRead[Math.min(MAX_BLOCKS, request.ranges().size())];
      for (int i = 0; i < blocks.length; i++) {
        blocks[i] = new BlockRead(this, request, i);
      }
      send(message, blocks, request.owner(), nowNs);
      return blocks.length;
    } finally {
      sends.unlock();
    }
  }

  /** Locates blocks of a request from an index on. */
  void locate(FetchRequest request, int from, long nowNs) {
    for (int i = from; i < request.ranges().size(); i++) {
      BlockRead block = new BlockRead(this, request, i);
      block.onWanted(nowNs);
      wanted.add(block);
    }
    locateWanted(nowNs);
  }

  /** Locates the blocks that are wanted, as far as there are messages. */
  void locateWanted(long nowNs) {
    if (wanted.isEmpty()) {
      return;
    }
    sends.lock();
    try {
      OutMessage message = messageForLocate();
      while (message != null && !wanted.isEmpty()) {
        // A LOCATE has one owner.
        int owner = wanted.peek().owner();
        BlockRead[] blocks = new BlockRead[Math.min(MAX_BLOCKS, wanted.size())];
        int count = 0;
        while (count < blocks.length && wanted.peek().owner() == owner) {
          blocks[count++] = wanted.poll();
        }
        send(message, Arrays.copyOf(blocks, count), owner, nowNs);
        message = messageForLocate();
      }
    } finally {
      sends.unlock();
    }
    context.connections().expectCompletion(nowNs);
  }

  /** A message for a LOCATE that can be sent now; null without. */
  private OutMessage messageForLocate() {
    for (int i = 0; i < LOCATES; i++) {
      if (messages[i].isFree()) {
        return canSend() ? messages[i] : null;
      }
    }
    return null;
  }

  private OutMessage messageForRelease() {
    return messages[LOCATES];
  }

  private boolean canSend() {
    return connection.isUsable() && sends.room() > 0 && sends.canGather();
  }

  /** Sends a LOCATE, which takes leases along. */
  private void send(OutMessage message, BlockRead[] blocks, int owner, long nowNs) {
    long id = ids++ * LOCATES + (message == messages[0] ? 0 : 1);
    // The peer answers what is ready before the wait is over.
    long limitNs = Math.min(timeoutNs, connection.limitNs());
    int limitMs = (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(limitNs));
    locate.begin(message.bytes(), id, limitMs, owner);
    int taken = Math.min(leaseCount, MAX_LEASES_IN_LOCATE);
    for (int i = 0; i < taken; i++) {
      locate.lease(leases[i]);
    }
    dropLeases(taken);
    for (BlockRead block : blocks) {
      block.locate(locate, nowNs);
    }
    message.setLocate(id, blocks);
    message.send(sends, locate.finish(), true, nowNs);
  }

  /** The device has sent a message. */
  void onSent(OutMessage message, long nowNs) {
    sends.lock();
    try {
      message.onSent();
    } finally {
      sends.unlock();
    }
    locateWanted(nowNs);
  }

  // LOCATED.

  /** Takes an answer; returns its READs. */
  ReadBatch takeAnswer(ByteBuffer answer, ReadPipeline reads, long nowNs) {
    located.begin(answer);
    BlockRead[] asked = asked();
    long leaseNs = TimeUnit.MILLISECONDS.toNanos(located.leaseRemainingMs() - LEASE_MARGIN_MS);
    // A READ that is posted last has its time before the lease ends, too.
    long postUntilNs = nowNs + Math.min(timeoutNs, leaseNs - timeoutNs);
    ReadBatch batch = reads.beginBatch(located.leaseId(), postUntilNs, asked.length);
    noRoom = false;
    if (located.leaseId() != 0 && leaseNs < timeoutNs) {
      for (BlockRead block : asked) {
        block.leaveToTcp(FallbackReason.TIMEOUT, "lease shorter than the request time-out");
      }
    } else {
      addReads(asked, batch, answer.capacity() - answer.limit(), nowNs);
    }
    return batch;
  }

  /** The blocks of the LOCATE that is answered. */
  private BlockRead[] asked() {
    answered = messages[(int) (located.requestId() & LOCATES - 1)];
    sends.lock();
    try {
      BlockRead[] asked = answered.blocks(located.requestId());
      if (asked == null) {
        throw new MalformedMessageException("bad LOCATED: unknown requestId");
      }
      return asked;
    } finally {
      sends.unlock();
    }
  }

  /**
   * The answer was taken, and its receive is posted again.
   *
   * @return time at which it was asked for
   */
  long endAnswer(long nowNs) {
    long askedNs = free(answered);
    context.connections().onLocated(nowNs - askedNs);
    return askedNs;
  }

  /** Whether the last answer has blocks for which the peer had no room or time. */
  boolean hadNoRoom() {
    return noRoom;
  }

  private long free(OutMessage message) {
    sends.lock();
    try {
      return message.onAnswered();
    } finally {
      sends.unlock();
    }
  }

  /**
   * Checks an answer against its LOCATE, and adds its READs to a batch.
   *
   * @param roomBytes that its message has left
   */
  private void addReads(BlockRead[] asked, ReadBatch batch, int roomBytes, long nowNs) {
    long bytes = 0;
    int current = -1;
    boolean ended = false;
    while (located.nextExtent()) {
      int next = located.blockIndex();
      if (next < current || next >= asked.length || (next == current && ended)) {
        throw new MalformedMessageException("bad LOCATED: blockIndex=" + next);
      }
      current = next;
      ended = located.kind() != Located.Kind.LOCATED;
      if (!ended) {
        bytes += located.lengthBytes();
        addReadsOf(asked[next], batch, nowNs);
      } else {
        leaveToTcp(asked[next], located.kind());
      }
    }
    if (current < 0) {
      throw new MalformedMessageException("bad LOCATED: no extent");
    }
    // One that is not full lacks memory, perhaps that of its own lease: the rest waits for its end.
    boolean full =
        roomBytes < Located.EXTENT_BYTES + Located.SUM_BYTES || bytes >= Located.MAX_LOCATED_BYTES;
    for (int i = asked.length - 1; i >= 0; i--) {
      if (!full && asked[i].isLeftOut()) {
        asked[i].expectReads(batch);
      } else if (asked[i].state() == BlockRead.State.LOCATING) {
        askForRest(asked[i], nowNs);
      }
    }
  }

  /**
   * An answer has left out a block or its rest: it is located before all others, unless that has
   * taken too long. The caller locates what is wanted.
   */
  void askForRest(BlockRead block, long nowNs) {
    block.onWanted(nowNs);
    if (block.ageNs(nowNs) > timeoutNs + NS_PER_BYTE * block.locatedBytes()) {
      connection.onEndlessBlock(nowNs);
      block.leaveToTcp(FallbackReason.TIMEOUT, "answers come too slowly");
    } else {
      wanted.addFirst(block);
    }
  }

  private void leaveToTcp(BlockRead block, Located.Kind kind) {
    FallbackReason reason =
        switch (kind) {
          case BUSY -> FallbackReason.PEER_BUSY;
          case OVERLOADED -> FallbackReason.PEER_OVERLOADED;
          default -> FallbackReason.PEER_UNKNOWN_BLOCK;
        };
    noRoom |= kind == Located.Kind.BUSY || kind == Located.Kind.OVERLOADED;
    if (block.state() == BlockRead.State.WAITING) {
      context.receiveMemory().cancel(block);
    }
    block.leaveToTcp(reason, "peer answered " + kind);
  }

  /**
   * Adds the READs of the extent at which the answer stands, unless its block is settled or has no
   * memory.
   */
  private void addReadsOf(BlockRead block, ReadBatch batch, long nowNs) {
    if (block.isSettled() || block.state() == BlockRead.State.WAITING) {
      return;
    }
    if (located.leaseId() == 0 && located.lengthBytes() > 0) {
      throw new MalformedMessageException("bad LOCATED: extent without a lease");
    }
    if (block.memory() == null && !tryTakeMemory(block, nowNs)) {
      return;
    }
    int length = located.lengthBytes();
    if (located.blockBytes() != block.blockBytes()
        || located.blockOffset() != block.locatedBytes()
        || (length == 0 && block.blockBytes() != 0)) {
      throw new MalformedMessageException("bad LOCATED: extent out of order");
    }
    block.addReads(located, batch);
  }

  /** Takes memory for a block of which an extent is located first, or lets it wait, or use TCP. */
  private boolean tryTakeMemory(BlockRead block, long nowNs) {
    long bytes = located.blockBytes();
    if (!context.receiveMemory().canFit(bytes)) {
      block.leaveToTcp(FallbackReason.POOL_EMPTY, "block larger than the receive memory");
      return false;
    }
    block.setLength(bytes);
    FetchedBlock memory = context.receiveMemory().tryTake(block);
    if (memory == null) {
      block.onNoMemory();
      context.receiveMemory().enqueue(block, nowNs);
      return false;
    }
    block.setMemory(memory);
    return true;
  }

  /** A block that waited for memory has it, or has waited too long. */
  void onMemory(BlockRead block) {
    if (block.memory() == null) {
      block.leaveToTcp(FallbackReason.POOL_EMPTY, "no receive memory in time");
    } else {
      long nowNs = context.connections().nowNs();
      block.onWanted(nowNs);
      // It holds memory for which other blocks wait.
      wanted.addFirst(block);
      locateWanted(nowNs);
    }
  }

  /** Memory of its blocks that are not delivered changes by this. */
  void hold(long bytes) {
    heldBytes += bytes;
  }

  /** Whether another block may have memory; a single one always may. */
  boolean mayHold(long bytes) {
    return heldBytes == 0 || heldBytes + bytes <= context.receiveMemory().shareBytes();
  }

  /** Memory that its blocks keep from others, perhaps with a rest of a chunk. */
  long heldBytes() {
    return heldBytes == 0 ? 0 : heldBytes + context.settings().chunkBytes();
  }

  // RELEASE.

  /** The READs of an answer are done: the next LOCATE takes its lease along. */
  void addLease(long lease, long nowNs) {
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
        context.connections().addReleasing(connection);
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
   * Releases the leases when no LOCATE has taken them along for a while.
   *
   * @return false when it must be called again
   */
  boolean releaseLeases(long nowNs) {
    sends.lock();
    try {
      if (leaseCount == 0) {
        isReleasing = false;
        return true;
      }
      // LOCATEs that nothing answers may wait for the memory of the leases.
      boolean due = nowNs - releaseDueNs >= 0 || (messages[0].isLocate() && messages[1].isLocate());
      OutMessage message = messageForRelease();
      if (!due || !message.isFree() || !canSend()) {
        return false;
      }
      int count = Math.min(leaseCount, Messages.maxLeases(MessageBuffers.MESSAGE_BYTES));
      ByteBuffer out = Messages.beginRelease(message.bytes(), count);
      for (int i = 0; i < count; i++) {
        out.putLong(leases[i]);
      }
      dropLeases(count);
      message.send(sends, out.position(), true, nowNs);
      isReleasing = leaseCount > 0;
      return !isReleasing;
    } finally {
      sends.unlock();
    }
  }

  /** Checks the answer to the RELEASE. */
  void checkReleased(ByteBuffer answer) {
    Messages.checkReleased(answer);
    if (!messageForRelease().awaitsAnswer()) {
      throw new MalformedMessageException("RELEASED without a RELEASE");
    }
  }

  /** The answer to the RELEASE was taken, and its receive is posted again. */
  void endRelease(long nowNs) {
    free(messageForRelease());
    locateWanted(nowNs);
  }

  // Deadlines and the end.

  /** Its blocks that wait for memory. */
  private List<BlockRead> waiting() {
    List<BlockRead> own = new ArrayList<>();
    for (ReceiveMemory.Waiter waiter : context.receiveMemory().waiters()) {
      if (waiter instanceof BlockRead block && block.isOf(this)) {
        own.add(block);
      }
    }
    return own;
  }

  /** Whether blocks are to be located or wait, or messages or leases are not answered. */
  boolean isWorking() {
    if (!wanted.isEmpty() || !waiting().isEmpty()) {
      return true;
    }
    sends.lock();
    try {
      return leaseCount > 0 || !Stream.of(messages).allMatch(OutMessage::isFree);
    } finally {
      sends.unlock();
    }
  }

  /** Whether an answer is overdue; under the lock of the send queue. */
  boolean isOverdue(long nowNs) {
    return Stream.of(messages).anyMatch(message -> message.isOverdue(nowNs, timeoutNs));
  }

  /** Time since which the oldest block has been wanted or located; otherwise the other time. */
  long oldestNs(long otherNs) {
    long oldestNs = wanted.isEmpty() ? otherNs : earlier(wanted.peek().sinceNs(), otherNs);
    sends.lock();
    try {
      for (OutMessage message : messages) {
        oldestNs = message.isLocate() ? earlier(message.askedNs(), oldestNs) : oldestNs;
      }
    } finally {
      sends.unlock();
    }
    return oldestNs;
  }

  private static long earlier(long oneNs, long otherNs) {
    return oneNs - otherNs < 0 ? oneNs : otherNs;
  }

  /** Blocks that were wanted for too long use TCP. */
  void leaveLateToTcp(long nowNs) {
    // Those that answers leave out are in front of those that were never located.
    wanted.removeIf(block -> leaveToTcpIfLate(block, nowNs));
  }

  private boolean leaveToTcpIfLate(BlockRead block, long nowNs) {
    boolean late = nowNs - block.sinceNs() > timeoutNs;
    if (late) {
      block.leaveToTcp(FallbackReason.TIMEOUT, "no LOCATE in time");
    }
    return late;
  }

  /**
   * The connection is broken, or makes no progress: its blocks use TCP. Returns whether there are
   * some.
   */
  boolean leaveToTcp(FallbackReason reason, String detail) {
    List<BlockRead> blocks = waiting();
    blocks.forEach(context.receiveMemory()::cancel);
    sends.lock();
    try {
      for (OutMessage message : messages) {
        blocks.addAll(message.blocks() == null ? List.of() : Arrays.asList(message.blocks()));
      }
    } finally {
      sends.unlock();
    }
    blocks.addAll(wanted);
    wanted.clear();
    for (BlockRead block : blocks) {
      block.leaveToTcp(reason, detail);
    }
    return !blocks.isEmpty();
  }
}
