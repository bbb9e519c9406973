// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import java.util.Optional;
import org.sparkrdma.shuffle.wire.ReturnedCredit;

/**
 * The buffers and the slots of the send queue that requests and RETURNs take: a buffer until it is
 * sent, a slot until it is sent and answered. The receive of an answer is posted before its request
 * is sent. Owned by the agent.
 */
final class RequestSends {
  private final SendQueue sends;
  private final ConnectionBuffers buffers;
  private final PostedReceives receives;
  private final int maxSlots;
  private int slotsInUse;

  RequestSends(SendQueue sends, ConnectionBuffers buffers, PostedReceives receives, int maxSlots) {
    this.sends = sends;
    this.buffers = buffers;
    this.receives = receives;
    this.maxSlots = maxSlots;
  }

  boolean hasSlot() {
    return slotsInUse < maxSlots;
  }

  /** Posts the receive of an answer, and takes the buffer of its request. */
  Optional<ControlBuffer> tryTakeBuffers() {
    Optional<ControlBuffer> request = buffers.tryTake();
    if (request.isEmpty()) {
      return request;
    }
    Optional<ControlBuffer> answer = buffers.tryTake();
    if (answer.isEmpty()) {
      buffers.release(request.get());
      return answer;
    }
    receives.post(answer.get());
    return request;
  }

  /** Same as {@link #tryTakeBuffers}, from the reserve that one RELEASE uses at a time. */
  Optional<ControlBuffer> tryTakeReservedBuffers() {
    List<ControlBuffer> taken = buffers.tryTakeForRelease(ControlBuffers.RELEASE_RESERVE);
    if (taken.isEmpty()) {
      return Optional.empty();
    }
    receives.post(taken.get(1));
    return Optional.of(taken.get(0));
  }

  /** Sends a request; requires {@link #hasSlot}. */
  void send(ControlBuffer buffer, int length, PostedRequest request) {
    slotsInUse++;
    sends.send(buffer.region(), buffer.regionOffset(), length, request);
  }

  /**
   * Sends a RETURN of one credit; requires {@link #hasSlot}.
   *
   * @return false when there is no buffer for it
   */
  boolean tryReturnCredit() {
    Optional<ControlBuffer> taken = buffers.tryTake();
    boolean reserved = taken.isEmpty();
    if (reserved) {
      taken = buffers.tryTakeForRelease(1).stream().findFirst();
    }
    if (taken.isEmpty()) {
      return false;
    }
    ControlBuffer buffer = taken.get();
    int length = ReturnedCredit.encode(buffer.bytes());
    send(
        buffer,
        length,
        () -> {
          onSent(buffer);
          onOver(reserved);
        });
    return true;
  }

  /** A send has completed. */
  void onSent(ControlBuffer buffer) {
    buffers.release(buffer);
  }

  /** A request is sent and answered, or a RETURN is sent. */
  void onOver(boolean reserved) {
    slotsInUse--;
    if (reserved) {
      buffers.endRelease();
    }
  }
}
