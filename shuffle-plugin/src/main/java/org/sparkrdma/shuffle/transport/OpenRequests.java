// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.function.ToIntFunction;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Release;

/**
 * The open LOCATEs and the open RELEASE of a connection, and the leases that the next request
 * releases. Owned by the agent.
 */
final class OpenRequests {
  private final TransportContext context;
  private final SendQueue sends;
  private final ArrayDeque<ControlSlot> freeSlots;
  private final List<OpenRequest> open = new ArrayList<>();
  private final ArrayDeque<Long> leasesToRelease = new ArrayDeque<>();
  private final Locate.Encoder locateEncoder = new Locate.Encoder();
  private final Release.Encoder releaseEncoder = new Release.Encoder();
  private long nextRequestId = 1;
  private boolean releaseOpen;

  /**
   * @param slots one for each request that may be open
   */
  OpenRequests(TransportContext context, SendQueue sends, Collection<ControlSlot> slots) {
    this.context = context;
    this.sends = sends;
    this.freeSlots = new ArrayDeque<>(slots);
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  /** Whether the connection holds leases or an open request may bring one. */
  boolean holdLeases() {
    return !open.isEmpty() || !leasesToRelease.isEmpty();
  }

  /** As {@link #holdLeases}, without the lease that one request may bring. */
  boolean holdLeasesBeside(OpenRequest request) {
    return open.stream().anyMatch(other -> other != request) || !leasesToRelease.isEmpty();
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
    int locates = open.size() - (releaseOpen ? 1 : 0);
    return locates < context.settings().locatesInFlight() && !freeSlots.isEmpty();
  }

  /**
   * Locates as many blocks as fit into a message; requires {@link #mayLocate}.
   *
   * @param wanted queue from which the located blocks are removed
   * @param heldLeases whether leases are held beside those given back here
   */
  void locate(Deque<BlockProgress> wanted, long nowNs, boolean heldLeases) {
    ControlSlot slot = freeSlots.poll();
    locateEncoder.begin(slot.bytes(), nextRequestId);
    while (!leasesToRelease.isEmpty() && locateEncoder.hasRoomForLease()) {
      locateEncoder.lease(leasesToRelease.poll());
    }
    List<BlockProgress> asked = new ArrayList<>();
    while (!wanted.isEmpty() && locateEncoder.hasRoomForBlock()) {
      BlockProgress block = wanted.poll();
      BlockRange range = block.range();
      locateEncoder.block(
          range.shuffleId(),
          range.mapId(),
          range.startReduceId(),
          range.endReduceId(),
          block.bytesRead(),
          block.decideFreshSums(context.delivery()::sumsUnusable));
      asked.add(block);
    }
    send(slot, locateEncoder.finish(), asked, nowNs, heldLeases);
  }

  boolean mayRelease() {
    return !leasesToRelease.isEmpty() && !releaseOpen && !freeSlots.isEmpty();
  }

  /** Sends a message of the connection's set-up, before any request. */
  void sendSetupMessage(ToIntFunction<ByteBuffer> writer) {
    ControlSlot slot = freeSlots.poll();
    int length = writer.applyAsInt(slot.bytes());
    sends.send(
        slot.chunk().region(), slot.chunk().regionOffset(), length, () -> freeSlots.add(slot));
  }

  /** Releases leases without locating blocks; requires {@link #mayRelease}. */
  void release(long nowNs) {
    ControlSlot slot = freeSlots.poll();
    releaseEncoder.begin(slot.bytes(), nextRequestId);
    while (!leasesToRelease.isEmpty() && releaseEncoder.hasRoom()) {
      releaseEncoder.lease(leasesToRelease.poll());
    }
    releaseOpen = true;
    send(slot, releaseEncoder.finish(), List.of(), nowNs, false);
  }

  private void send(
      ControlSlot slot, int length, List<BlockProgress> blocks, long nowNs, boolean heldLeases) {
    long deadline = nowNs + context.settings().requestTimeout().toNanos();
    OpenRequest request =
        new OpenRequest(nextRequestId++, blocks, deadline, heldLeases, () -> freeSlots.add(slot));
    open.add(request);
    sends.send(slot.chunk().region(), slot.chunk().regionOffset(), length, request);
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
    open.remove(request);
    request.answered();
  }

  /**
   * A RELEASED was received.
   *
   * @throws MalformedMessageException when it answers no open RELEASE
   */
  void released(long requestId) {
    OpenRequest request = find(requestId);
    if (!request.blocks().isEmpty()) {
      throw new MalformedMessageException("RELEASED as the answer to a LOCATE");
    }
    open.remove(request);
    request.answered();
    releaseOpen = false;
  }

  private OpenRequest find(long requestId) {
    for (OpenRequest request : open) {
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
