// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Release;
import org.sparkrdma.shuffle.wire.ReturnedCredit;

/**
 * The open LOCATEs and the open RELEASE of a connection, and the leases that the next request
 * releases. Owned by the agent.
 *
 * <p>The receive of an answer is posted before its request is sent. A request is sent only when
 * there are buffers for both; a RELEASE of leases may take them from a reserve. A LOCATE needs a
 * credit of the peer, which the answer gives back; a RELEASE needs none. When blocks wait for a
 * credit, a RELEASE asks for more at once, so that they do not wait for the disk of an open LOCATE.
 * Granted credits are returned when the connection is idle.
 */
final class OpenRequests {
  private static final int GROWTH_PART = 8;

  /** Time for which a lease may wait for a LOCATE that releases it. */
  private static final long MAX_LEASE_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private final TransportContext context;
  private final SendQueue sends;
  private final ConnectionBuffers buffers;
  private final PostedReceives receives;
  private final List<OpenRequest> open = new ArrayList<>();
  private final ArrayDeque<Long> leasesToRelease = new ArrayDeque<>();
  private final Locate.Encoder locateEncoder = new Locate.Encoder();
  private final Release.Encoder releaseEncoder = new Release.Encoder();
  private long nextRequestId = 1;
  private boolean leasesWait;
  private long leasesWaitSinceNs;
  private boolean releaseOpen;
  private boolean releaseHasLeases;

  /** Credits: LOCATEs that may be open. The peer has posted a receive for each. */
  private int window = TransportSettings.CREDITS_WHEN_IDLE;

  /** Whether it has asked for credits since the last LOCATED: a peer may have none to give. */
  private boolean askedForCredits;

  /** Blocks that an answer is expected to locate; a LOCATE asks for no more. */
  private int maxBlocks = Integer.MAX_VALUE;

  /** Slots of the send queue that requests use: each until it is sent and answered. */
  private int sendSlotsInUse;

  OpenRequests(
      TransportContext context,
      SendQueue sends,
      ConnectionBuffers buffers,
      PostedReceives receives) {
    this.context = context;
    this.sends = sends;
    this.buffers = buffers;
    this.receives = receives;
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  /** Whether the connection holds leases or an open request may bring one. */
  boolean holdLeases() {
    return !open.isEmpty() || !leasesToRelease.isEmpty();
  }

  /** Whether leases wait for their release. */
  boolean haveLeasesToRelease() {
    return !leasesToRelease.isEmpty();
  }

  /** As {@link #holdLeases}, without the lease that one request may bring. */
  boolean holdLeasesBeside(OpenRequest request) {
    boolean isOpen = open.contains(request);
    return open.size() > (isOpen ? 1 : 0) || !leasesToRelease.isEmpty();
  }

  /** Whether this lease waits for its release. */
  boolean isToBeReleased(long leaseId) {
    return leasesToRelease.contains(leaseId);
  }

  /** Releases a lease with the next request. */
  void giveBack(long leaseId) {
    leasesToRelease.add(leaseId);
  }

  boolean mayLocate() {
    return hasCredit() && hasSendSlot();
  }

  private boolean hasCredit() {
    return open.size() - (releaseOpen ? 1 : 0) < window;
  }

  private boolean hasSendSlot() {
    return sendSlotsInUse < context.settings().requestsOpen();
  }

  /** Returns granted credits while no request is open, as far as there are buffers. */
  void returnCredits() {
    while (open.isEmpty() && window > TransportSettings.CREDITS_WHEN_IDLE && hasSendSlot()) {
      Optional<ControlBuffer> taken = buffers.tryTake();
      boolean reserved = taken.isEmpty();
      if (reserved) {
        taken = buffers.tryTakeForRelease(1).stream().findFirst();
      }
      if (taken.isEmpty()) {
        return;
      }
      ControlBuffer buffer = taken.get();
      int length = ReturnedCredit.encode(buffer.bytes());
      window--;
      sendSlotsInUse++;
      sends.send(
          buffer.region(),
          buffer.regionOffset(),
          length,
          () -> {
            buffers.giveBack(buffer);
            over(reserved);
          });
    }
  }

  /**
   * Locates as many blocks as fit into a message; requires {@link #mayLocate}.
   *
   * @param wanted queue from which the located blocks are removed
   * @param heldLeases whether leases are held beside those given back here
   * @return false when there is no memory for the messages; nothing is done then
   */
  boolean tryLocate(Deque<BlockProgress> wanted, long nowNs, boolean heldLeases) {
    Optional<ControlBuffer> buffer = tryTakeBuffers();
    if (buffer.isEmpty()) {
      return false;
    }
    locateEncoder.begin(buffer.get().bytes(), nextRequestId);
    while (!leasesToRelease.isEmpty() && locateEncoder.hasRoomForLease()) {
      locateEncoder.lease(leasesToRelease.poll());
    }
    List<BlockProgress> asked = context.readPool().blocks();
    while (!wanted.isEmpty() && locateEncoder.hasRoomForBlock() && asked.size() < maxBlocks) {
      BlockProgress block = wanted.poll();
      locateEncoder.block(
          block.shuffleId(),
          block.mapId(),
          block.startReduceId(),
          block.endReduceId(),
          block.bytesRead(),
          block.decideFreshSums(context.delivery()));
      asked.add(block);
    }
    send(buffer.get(), locateEncoder.finish(), asked, nowNs, heldLeases, false);
    return true;
  }

  /** Notes the time since which leases wait for a message that releases them. */
  void noteLeaseWait(long nowNs) {
    if (leasesToRelease.isEmpty()) {
      leasesWait = false;
    } else if (!leasesWait) {
      leasesWait = true;
      leasesWaitSinceNs = nowNs;
    }
  }

  /**
   * Whether a RELEASE should be sent now, when no LOCATE can be; call {@link #noteLeaseWait}
   * before.
   *
   * @param blocksWait whether blocks wait for {@link #mayLocate}
   */
  boolean mayRelease(boolean blocksWait, long nowNs) {
    boolean due = areLeasesDue(blocksWait, nowNs) || (blocksWait && shouldAskForCredits());
    return due && !releaseOpen && hasSendSlot();
  }

  /** Leases wait for the next LOCATE when one is to follow an answer, but not for long. */
  private boolean areLeasesDue(boolean blocksWait, long nowNs) {
    if (!leasesWait) {
      return false;
    }
    boolean locateFollows = blocksWait && open.size() > (releaseOpen ? 1 : 0);
    return !locateFollows || nowNs - leasesWaitSinceNs >= MAX_LEASE_WAIT_NS;
  }

  private boolean shouldAskForCredits() {
    return !hasCredit() && !askedForCredits && window < context.settings().locatesInFlight();
  }

  /**
   * Releases leases without locating blocks, and asks for credits if blocks wait for one; requires
   * {@link #mayRelease}.
   *
   * @return false when there is no memory for the messages; nothing is done then
   */
  boolean tryRelease(boolean blocksWait, long nowNs) {
    Optional<ControlBuffer> buffer = tryTakeBuffers();
    boolean reserved = buffer.isEmpty() && !leasesToRelease.isEmpty();
    if (reserved) {
      buffer = tryTakeReservedBuffers();
    }
    if (buffer.isEmpty()) {
      return false;
    }
    releaseEncoder.begin(buffer.get().bytes(), nextRequestId);
    while (!leasesToRelease.isEmpty() && releaseEncoder.hasRoom()) {
      releaseEncoder.lease(leasesToRelease.poll());
    }
    releaseHasLeases = releaseEncoder.leaseCount() > 0;
    if (blocksWait && shouldAskForCredits()) {
      releaseEncoder.wantCredits();
      askedForCredits = true;
    }
    releaseOpen = true;
    send(buffer.get(), releaseEncoder.finish(), List.of(), nowNs, false, reserved);
    return true;
  }

  /** Posts the receive of an answer, and takes the buffer of its request. */
  private Optional<ControlBuffer> tryTakeBuffers() {
    Optional<ControlBuffer> request = buffers.tryTake();
    if (request.isEmpty()) {
      return request;
    }
    Optional<ControlBuffer> answer = buffers.tryTake();
    if (answer.isEmpty()) {
      buffers.giveBack(request.get());
      return answer;
    }
    receives.post(answer.get());
    return request;
  }

  /** As {@link #tryTakeBuffers}, of the reserve that one RELEASE uses at a time. */
  private Optional<ControlBuffer> tryTakeReservedBuffers() {
    List<ControlBuffer> taken = buffers.tryTakeForRelease(ControlBuffers.RELEASE_RESERVE);
    if (taken.isEmpty()) {
      return Optional.empty();
    }
    receives.post(taken.get(1));
    return Optional.of(taken.get(0));
  }

  private void send(
      ControlBuffer buffer,
      int length,
      List<BlockProgress> blocks,
      long nowNs,
      boolean held,
      boolean reserved) {
    long deadline = nowNs + context.settings().requestTimeout().toNanos();
    sendSlotsInUse++;
    OpenRequest request =
        new OpenRequest(
            nextRequestId++,
            blocks,
            deadline,
            held,
            () -> buffers.giveBack(buffer),
            () -> over(reserved));
    open.add(request);
    sends.send(buffer.region(), buffer.regionOffset(), length, request);
  }

  /** A request is sent and answered, or a RETURN is sent. */
  private void over(boolean reserved) {
    sendSlotsInUse--;
    if (reserved) {
      buffers.endRelease();
    }
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
    askedForCredits = false;
    open.remove(request);
    request.answered();
  }

  /**
   * Adapts the number of blocks of a LOCATE to what an answer can hold: blocks that it leaves out
   * are located twice.
   *
   * @param asked number of blocks of the request
   * @param leftOut number of them for which the answer had no room
   */
  void onAnswerLength(int asked, int leftOut) {
    if (leftOut > 0) {
      maxBlocks = Math.max(1, asked - leftOut);
    } else if (asked >= maxBlocks) {
      maxBlocks += maxBlocks / GROWTH_PART + GROWTH_PART;
    }
  }

  /**
   * Removes the RELEASE that was answered and takes the granted credits.
   *
   * @return whether leases were released
   * @throws MalformedMessageException when it answers no open RELEASE, or grants more credits than
   *     LOCATEs may be open
   */
  boolean takeReleased(long requestId, int credits) {
    OpenRequest request = find(requestId);
    if (!request.blocks().isEmpty()) {
      throw new MalformedMessageException("RELEASED as the answer to a LOCATE");
    }
    if (credits > context.settings().locatesInFlight() - window) {
      throw new MalformedMessageException("bad RELEASED: credits=" + credits + " window=" + window);
    }
    window += credits;
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
