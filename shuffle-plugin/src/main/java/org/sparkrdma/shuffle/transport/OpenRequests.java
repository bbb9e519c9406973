// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Release;

/**
 * The open LOCATEs and the open RELEASE of a connection, and the leases that the next request
 * releases. Owned by the agent.
 *
 * <p>A request is sent only when there are buffers for it and for the receive of its answer; a
 * RELEASE of leases may take them from a reserve. A LOCATE needs a credit of the peer, which the
 * answer returns; a RELEASE needs none. When blocks wait for a credit, a RELEASE asks for more at
 * once, so that they do not wait for the disk of an open LOCATE. Granted credits are returned when
 * the connection is idle.
 */
final class OpenRequests {
  private final TransportContext context;
  private final RequestSends sends;
  private final List<OpenRequest> open = new ArrayList<>();
  private final LeasesToRelease leases = new LeasesToRelease();
  private final LocateCredits credits;
  private final AnswerRoom answerRoom = new AnswerRoom();
  private final Locate.Encoder locateEncoder = new Locate.Encoder();
  private final Release.Encoder releaseEncoder = new Release.Encoder();
  private final int timeoutMs;
  private long nextRequestId = 1;
  private boolean releaseOpen;
  private boolean releaseHasLeases;

  OpenRequests(
      TransportContext context,
      SendQueue sends,
      ConnectionBuffers buffers,
      PostedReceives receives) {
    this.context = context;
    this.sends = new RequestSends(sends, buffers, receives, context.settings().requestsOpen());
    this.timeoutMs = (int) context.settings().requestTimeout().toMillis();
    this.credits = new LocateCredits(context.settings().locatesInFlight());
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  /** Whether the connection holds leases or may get one by an open request. */
  boolean hasLeases() {
    return !open.isEmpty() || !leases.isEmpty();
  }

  /** Whether leases wait for their release. */
  boolean hasLeasesToRelease() {
    return !leases.isEmpty();
  }

  /** Whether the connection holds or may get leases apart from that of this request. */
  boolean hasLeasesBeside(OpenRequest request) {
    boolean isOpen = open.contains(request);
    return open.size() > (isOpen ? 1 : 0) || !leases.isEmpty();
  }

  /** Whether this lease waits for its release. */
  boolean isToBeReleased(long leaseId) {
    return leases.contains(leaseId);
  }

  /** Releases a lease with the next request. */
  void queueRelease(long leaseId) {
    leases.add(leaseId);
  }

  boolean mayLocate() {
    return credits.allows(openLocates()) && sends.hasSlot();
  }

  private int openLocates() {
    return open.size() - (releaseOpen ? 1 : 0);
  }

  /** Returns granted credits while no request is open, as far as there are buffers. */
  void returnCredits() {
    while (open.isEmpty() && credits.hasGranted() && sends.hasSlot() && sends.tryReturnCredit()) {
      credits.returnOne();
    }
  }

  /**
   * Locates as many blocks as fit into a message; requires {@link #mayLocate}.
   *
   * @param wanted queue from which the located blocks are removed
   * @param heldLeases whether leases are held beside those that this LOCATE releases
   * @return false when there is no memory for the messages; nothing is done then
   */
  boolean tryLocate(Deque<BlockProgress> wanted, long nowNs, boolean heldLeases) {
    Optional<ControlBuffer> buffer = sends.tryTakeBuffers();
    if (buffer.isEmpty()) {
      return false;
    }
    locateEncoder.begin(buffer.get().bytes(), nextRequestId, timeoutMs);
    while (!leases.isEmpty() && locateEncoder.hasRoomForLease()) {
      locateEncoder.lease(leases.take());
    }
    List<BlockProgress> asked = context.readPool().blocks();
    while (!wanted.isEmpty()
        && locateEncoder.hasRoomForBlock()
        && asked.size() < answerRoom.maxBlocks()) {
      BlockProgress block = wanted.poll();
      locateEncoder.block(
          block.shuffleId(),
          block.mapId(),
          block.startReduceId(),
          block.endReduceId(),
          block.bytesRead(),
          block.decideFreshSums());
      asked.add(block);
    }
    send(buffer.get(), locateEncoder.finish(), asked, nowNs, heldLeases, false);
    return true;
  }

  /** Notes the time since which leases wait for a message that releases them. */
  void noteLeaseWait(long nowNs) {
    leases.noteWait(nowNs);
  }

  /**
   * Whether a RELEASE should be sent now, when no LOCATE can be; call {@link #noteLeaseWait}
   * before.
   *
   * @param blocksWait whether blocks wait for {@link #mayLocate}
   */
  boolean mayRelease(boolean blocksWait, long nowNs) {
    boolean locateFollows = blocksWait && openLocates() > 0;
    boolean due =
        leases.areDue(locateFollows, nowNs) || (blocksWait && credits.shouldAsk(openLocates()));
    return due && !releaseOpen && sends.hasSlot();
  }

  /**
   * Releases leases without locating blocks, and asks for credits if blocks wait for one; requires
   * {@link #mayRelease}.
   *
   * @return false when there is no memory for the messages; nothing is done then
   */
  boolean tryRelease(boolean blocksWait, long nowNs) {
    Optional<ControlBuffer> buffer = sends.tryTakeBuffers();
    boolean reserved = buffer.isEmpty() && !leases.isEmpty();
    if (reserved) {
      buffer = sends.tryTakeReservedBuffers();
    }
    if (buffer.isEmpty()) {
      return false;
    }
    releaseEncoder.begin(buffer.get().bytes(), nextRequestId);
    while (!leases.isEmpty() && releaseEncoder.hasRoom()) {
      releaseEncoder.lease(leases.take());
    }
    releaseHasLeases = releaseEncoder.leaseCount() > 0;
    if (blocksWait && credits.shouldAsk(openLocates())) {
      releaseEncoder.requestCredits();
      credits.onAsked();
    }
    releaseOpen = true;
    send(buffer.get(), releaseEncoder.finish(), List.of(), nowNs, false, reserved);
    return true;
  }

  private void send(
      ControlBuffer buffer,
      int length,
      List<BlockProgress> blocks,
      long nowNs,
      boolean held,
      boolean reserved) {
    long deadline = nowNs + context.settings().requestTimeout().toNanos();
    OpenRequest request =
        new OpenRequest(
            nextRequestId++,
            blocks,
            deadline,
            held,
            () -> sends.onSent(buffer),
            () -> sends.onOver(reserved));
    open.add(request);
    sends.send(buffer, length, request);
  }

  /**
   * The open LOCATE that a LOCATED answers.
   *
   * @throws MalformedMessageException when there is none
   */
  OpenRequest openLocate(long requestId) {
    OpenRequest request = find(requestId);
    if (request.blocks().isEmpty()) {
      throw new MalformedMessageException("LOCATED as the answer to a RELEASE");
    }
    return request;
  }

  /** Removes a LOCATE that was answered. */
  void closeLocate(OpenRequest request) {
    credits.onLocated();
    open.remove(request);
    request.answered();
  }

  /** Adapts the number of blocks of a LOCATE, see {@link AnswerRoom#onAnswer}. */
  void onAnswerLength(int asked, int leftOut) {
    answerRoom.onAnswer(asked, leftOut);
  }

  /**
   * Removes the RELEASE that was answered and takes the granted credits.
   *
   * @return whether leases were released
   * @throws MalformedMessageException when it answers no open RELEASE, or grants more credits than
   *     LOCATEs may be open
   */
  boolean takeReleased(long requestId, int granted) {
    OpenRequest request = find(requestId);
    if (!request.blocks().isEmpty()) {
      throw new MalformedMessageException("RELEASED as the answer to a LOCATE");
    }
    credits.grant(granted);
    open.remove(request);
    request.answered();
    releaseOpen = false;
    return releaseHasLeases;
  }

  private OpenRequest find(long requestId) {
    for (int i = 0; i < open.size(); i++) {
      OpenRequest request = open.get(i);
      if (request.requestId() == requestId) {
        return request;
      }
    }
    throw new MalformedMessageException("answer without a request: requestId=" + requestId);
  }

  /** A request that timed out, or null. */
  OpenRequest expired(long nowNs) {
    for (OpenRequest request : open) {
      if (request.deadlineNs() - nowNs < 0) {
        return request;
      }
    }
    return null;
  }

  /** A new list of the blocks of all open LOCATEs. */
  List<BlockProgress> blocks() {
    List<BlockProgress> asked = new ArrayList<>();
    open.forEach(request -> asked.addAll(request.blocks()));
    return asked;
  }

  /** Removes all requests. */
  void abandon() {
    open.clear();
  }
}
