// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.serve.LocateCall;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Release;

/**
 * The serving half of a connection: passes LOCATEs to the server and sends its answers. Owned by
 * the agent.
 *
 * <p>A peer may receive an answer and send its next request before the SEND of the answer completes
 * here (kernel rxe completes SENDs and receives in different threads). Such a request waits for the
 * answer's buffer.
 */
final class ServeSide {
  private final TransportContext context;
  private final SendQueue sends;
  private final ArrayDeque<ControlSlot> freeSlots;
  private final ArrayDeque<Consumer<ControlSlot>> waitForSlot = new ArrayDeque<>();
  private final int maxOpen;
  private final long peer;
  private final Consumer<ControlSlot> receiveAgain;
  private final Consumer<String> malformed;
  private int open;
  private volatile boolean closed;

  /**
   * @param slots buffers of answers, one for each request that the peer may have open
   * @param peer number of the connection
   * @param receiveAgain posts a free receive buffer again
   * @param malformed called after the server has counted a malformed request
   */
  ServeSide(
      TransportContext context,
      SendQueue sends,
      Collection<ControlSlot> slots,
      long peer,
      Consumer<ControlSlot> receiveAgain,
      Consumer<String> malformed) {
    this.context = context;
    this.sends = sends;
    this.freeSlots = new ArrayDeque<>(slots);
    this.maxOpen = slots.size();
    this.peer = peer;
    this.receiveAgain = receiveAgain;
    this.malformed = malformed;
  }

  /** A LOCATE was received; its receive buffer stays in use until it is answered. */
  void onLocate(ControlSlot received, ByteBuffer message) {
    opened();
    withSlot(slot -> context.server().locate(new Call(received, message, slot)));
  }

  /** A RELEASE was received; it is answered when the server has released the leases. */
  void onRelease(ByteBuffer message) {
    Release release = Release.decode(message);
    long[] leases = new long[release.leaseCount()];
    for (int i = 0; i < leases.length; i++) {
      leases[i] = release.leaseId(i);
    }
    long requestId = release.requestId();
    opened();
    context
        .server()
        .release(peer, leases, () -> context.agent().accept(() -> onReleased(requestId)));
  }

  private void onReleased(long requestId) {
    if (!closed) {
      withSlot(slot -> answer(slot, Release.encodeAnswer(slot.bytes(), requestId)));
      sends.flush();
    }
  }

  /** Whether no request of the peer is open. */
  boolean isIdle() {
    return open == 0;
  }

  private void opened() {
    if (open == maxOpen) {
      throw new MalformedMessageException("more requests open than allowed: " + maxOpen);
    }
    open++;
  }

  private void withSlot(Consumer<ControlSlot> use) {
    ControlSlot slot = freeSlots.poll();
    if (slot == null) {
      waitForSlot.add(use);
    } else {
      use.accept(slot);
    }
  }

  private void answer(ControlSlot slot, int lengthBytes) {
    open--;
    sends.send(
        slot.chunk().region(), slot.chunk().regionOffset(), lengthBytes, () -> arrived(slot));
  }

  /** An answer was sent: its buffer is free. */
  private void arrived(ControlSlot slot) {
    freeSlots.add(slot);
    if (!waitForSlot.isEmpty()) {
      withSlot(waitForSlot.poll());
    }
  }

  /** The queue pair is destroyed: later answers are dropped. */
  void close() {
    closed = true;
  }

  /** A {@link Locate} in the server; reserves its buffers until the answer. */
  private final class Call implements LocateCall {
    private final ControlSlot received;
    private final ByteBuffer message;
    private final ControlSlot slot;

    Call(ControlSlot received, ByteBuffer message, ControlSlot slot) {
      this.received = received;
      this.message = message;
      this.slot = slot;
      received.chunk().retain();
      slot.chunk().retain();
    }

    @Override
    public long peer() {
      return peer;
    }

    @Override
    public boolean isClosed() {
      return closed;
    }

    @Override
    public ByteBuffer request() {
      return message;
    }

    @Override
    public ByteBuffer answer() {
      return slot.bytes();
    }

    @Override
    public void answered(int lengthBytes) {
      context.agent().accept(() -> end(lengthBytes, null));
    }

    @Override
    public void malformed(String reason) {
      context.agent().accept(() -> end(0, reason));
    }

    private void end(int lengthBytes, String reason) {
      received.chunk().release();
      slot.chunk().release();
      if (closed) {
        return;
      }
      if (reason != null) {
        malformed.accept(reason);
        return;
      }
      receiveAgain.accept(received);
      ServeSide.this.answer(slot, lengthBytes);
      sends.flush();
    }
  }
}
