// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Release;

/**
 * The messages that a reader's connection sends: LOCATEs of blocks, and the release of leases;
 * {@link LocateAnswers} takes the answers. It has two for LOCATEs and one for a RELEASE, which may
 * free the memory for which both wait, and a receive for the answer of each.
 *
 * <p>The lock of the send queue guards it, so that a task may send a LOCATE itself. Confined to the
 * agent, but for {@link #tryLocate}.
 */
final class LocateSender {
  /** Number of messages. */
  static final int MESSAGES = MemoryShares.READER_RECEIVES;

  /** Those for LOCATEs; the last one is for a RELEASE. */
  private static final int LOCATES = 2;

  /** The answer has room for as many with a checksum each. */
  static final int MAX_BLOCKS = 128;

  private static final int MAX_LEASES_IN_LOCATE = 256;
  private static final long LEASE_DELAY_NS = 5_000_000;

  private final FetchConnection connection;
  private final AgentResources shared;
  private final SendQueue sends;
  private final Message[] messages;
  private final long timeoutNs;
  private final Locate.Encoder locate = new Locate.Encoder();
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
  LocateSender(FetchConnection connection, int firstBuffer) {
    this.connection = connection;
    this.shared = connection.shared;
    this.sends = connection.sends;
    this.messages = new Message[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
      messages[i] = new Message(connection.buffer(firstBuffer + i));
    }
    this.timeoutNs = shared.settings().requestTimeout().toNanos();
  }

  // Set-up.

  /** Buffer of a message of the set-up. */
  ByteBuffer bytes(int message) {
    return messages[message].bytes;
  }

  /** Sends a message of the set-up. */
  void sendSetup(int message, int lengthBytes, long nowNs) {
    sends.lock();
    try {
      sendMessage(messages[message], lengthBytes, false, nowNs);
    } finally {
      sends.unlock();
    }
  }

  // LOCATE.

  /**
   * Sends a LOCATE of the first blocks of a request, unless the send queue or the messages are
   * busy. A task.
   *
   * @param answers takes the answer
   * @return number of blocks that it names
   */
  int tryLocate(FetchRequest request, LocateAnswers answers, long nowNs) {
    if (!sends.tryLock()) {
      return 0;
    }
    try {
      Message message = messageForLocate();
      if (message == null) {
        return 0;
      }
      BlockFetch[] blocks = new BlockFetch[Math.min(MAX_BLOCKS, request.ranges().size())];
      for (int i = 0; i < blocks.length; i++) {
        blocks[i] = new BlockFetch(answers, request, i);
      }
      sendLocate(message, blocks, request.owner(), nowNs);
      return blocks.length;
    } finally {
      sends.unlock();
    }
  }

  /** Whether a LOCATE can be sent now; under the lock of the send queue. */
  boolean canLocate() {
    return messageForLocate() != null;
  }

  /** Sends a LOCATE of blocks of one owner, which can be sent; under the lock of the send queue. */
  void locate(BlockFetch[] blocks, long nowNs) {
    sendLocate(messageForLocate(), blocks, blocks[0].owner(), nowNs);
  }

  /** A message for a LOCATE that can be sent now; null without. */
  private Message messageForLocate() {
    for (int i = 0; i < LOCATES; i++) {
      if (messages[i].isFree()) {
        return canSend() ? messages[i] : null;
      }
    }
    return null;
  }

  private Message messageForRelease() {
    return messages[LOCATES];
  }

  private boolean canSend() {
    return connection.isUsable() && sends.room() > 0 && sends.canGather();
  }

  /** Sends a LOCATE, which takes leases along. */
  private void sendLocate(Message message, BlockFetch[] blocks, int owner, long nowNs) {
    long id = ids++ * LOCATES + (message == messages[0] ? 0 : 1);
    // The peer answers what is ready before the wait is over.
    long limitNs = Math.min(timeoutNs, connection.limitNs());
    int limitMs = (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(limitNs));
    locate.begin(message.bytes, id, limitMs, owner);
    int taken = Math.min(leaseCount, MAX_LEASES_IN_LOCATE);
    for (int i = 0; i < taken; i++) {
      locate.lease(leases[i]);
    }
    dropLeases(taken);
    for (BlockFetch block : blocks) {
      block.locate(locate, nowNs);
    }
    message.id = id;
    message.blocks = blocks;
    sendMessage(message, locate.finish(), true, nowNs);
  }

  /** Sends a message, which the peer answers or not. */
  private void sendMessage(Message message, int lengthBytes, boolean awaitsAnswer, long nowNs) {
    message.sending = true;
    message.awaitsAnswer = awaitsAnswer;
    message.askedNs = nowNs;
    sends.send(message.chunk, lengthBytes, message, nowNs);
  }

  /** The device has sent a message, the use of its request in the send queue. */
  void onSent(Object message) {
    sends.lock();
    try {
      ((Message) message).sending = false;
    } finally {
      sends.unlock();
    }
  }

  // LOCATED.

  /** The blocks of a LOCATE that is answered. */
  BlockFetch[] asked(long requestId) {
    Message message = locateOf(requestId);
    sends.lock();
    try {
      if (message.blocks == null || message.id != requestId) {
        throw new MalformedMessageException("bad LOCATED: unknown requestId");
      }
      return message.blocks;
    } finally {
      sends.unlock();
    }
  }

  private Message locateOf(long requestId) {
    return messages[(int) (requestId & LOCATES - 1)];
  }

  /**
   * The answer was taken, and its receive is posted again.
   *
   * @return time at which it was asked for
   */
  long endAnswer(long requestId, long nowNs) {
    long askedNs = free(locateOf(requestId));
    shared.work().onLocated(nowNs - askedNs);
    return askedNs;
  }

  private long free(Message message) {
    sends.lock();
    try {
      message.awaitsAnswer = false;
      message.blocks = null;
      return message.askedNs;
    } finally {
      sends.unlock();
    }
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
        shared.work().addReleasing(connection);
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
      boolean due =
          nowNs - releaseDueNs >= 0 || (messages[0].blocks != null && messages[1].blocks != null);
      Message message = messageForRelease();
      if (!due || !message.isFree() || !canSend()) {
        return false;
      }
      int count = Math.min(leaseCount, Release.maxLeases(MemoryShares.MESSAGE_BYTES));
      ByteBuffer out = Release.begin(message.bytes, count);
      for (int i = 0; i < count; i++) {
        out.putLong(leases[i]);
      }
      dropLeases(count);
      sendMessage(message, out.position(), true, nowNs);
      isReleasing = leaseCount > 0;
      return !isReleasing;
    } finally {
      sends.unlock();
    }
  }

  /** Checks the answer to the RELEASE. */
  void checkReleased(ByteBuffer answer) {
    Release.checkReleased(answer);
    if (!messageForRelease().awaitsAnswer) {
      throw new MalformedMessageException("RELEASED without a RELEASE");
    }
  }

  /** The answer to the RELEASE was taken, and its receive is posted again. */
  void endRelease() {
    free(messageForRelease());
  }

  // Deadlines and the end.

  /** Whether messages are not answered, or leases not released. */
  boolean isWorking() {
    sends.lock();
    try {
      return leaseCount > 0 || !Stream.of(messages).allMatch(Message::isFree);
    } finally {
      sends.unlock();
    }
  }

  /** Whether an answer is overdue; under the lock of the send queue. */
  boolean isOverdue(long nowNs) {
    return Stream.of(messages)
        .anyMatch(message -> message.awaitsAnswer && nowNs - message.askedNs > timeoutNs);
  }

  /** Time at which the oldest LOCATE was sent that is not answered; the other time if earlier. */
  long oldestNs(long otherNs) {
    long oldestNs = otherNs;
    sends.lock();
    try {
      for (Message message : messages) {
        oldestNs = message.blocks == null ? oldestNs : earlier(message.askedNs, oldestNs);
      }
    } finally {
      sends.unlock();
    }
    return oldestNs;
  }

  static long earlier(long oneNs, long otherNs) {
    return oneNs - otherNs < 0 ? oneNs : otherNs;
  }

  /** The blocks of LOCATEs that are not answered. */
  List<BlockFetch> asked() {
    List<BlockFetch> blocks = new ArrayList<>();
    sends.lock();
    try {
      for (Message message : messages) {
        blocks.addAll(message.blocks == null ? List.of() : Arrays.asList(message.blocks));
      }
    } finally {
      sends.unlock();
    }
    return blocks;
  }

  /** A buffer of messages. Guarded by the lock of the send queue. */
  private static final class Message {
    final RegisteredChunk chunk;
    final ByteBuffer bytes;
    boolean sending;
    boolean awaitsAnswer;

    /** Time at which it was sent. */
    long askedNs;

    /** Of a LOCATE. */
    long id;

    /** The blocks of a LOCATE that awaits its answer; else null. */
    BlockFetch[] blocks;

    Message(RegisteredChunk chunk) {
      this.chunk = chunk;
      this.bytes = chunk.slice(0, chunk.lengthBytes());
    }

    boolean isFree() {
      return !sending && !awaitsAnswer;
    }
  }
}
