// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.serve.LocateCall;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Release;
import org.sparkrdma.shuffle.wire.ReturnedCredit;

/**
 * The serving half of a connection: passes LOCATEs to the server and sends its answers. Owned by
 * the agent.
 *
 * <p>A peer may receive an answer and send its next request before the SEND of the answer completes
 * here (kernel rxe completes SENDs and receives in different threads). Such a request waits for the
 * answer's slot in the send queue.
 *
 * <p>The server uses the buffers of a LOCATE and of its answer until the answer or the end of the
 * connection.
 */
final class ServeSide {
  /** An answer that waits longer for a buffer than this part of the time-out uses the reserve. */
  private static final int BUFFER_WAIT_PART = 16;

  private final TransportContext context;
  private final SendQueue sends;
  private final ConnectionBuffers buffers;
  private final PostedReceives receives;
  private final ArrayDeque<Runnable> waitForSendSlot = new ArrayDeque<>();
  private final int maxLocates;
  private final int maxOpen;
  private final long peer;
  private final long maxBufferWaitNs;
  private final Consumer<String> malformed;
  private int locatesOpen;
  private boolean releaseOpen;

  /** Credits of the peer: LOCATEs that it may have open. A receive is posted for each. */
  private int window = TransportSettings.CREDITS_WHEN_IDLE;

  /** Slots of the send queue that answers use: each from its request until it is sent. */
  private int sendSlotsInUse;

  /** Leases of the peer; too many after a peer has released others than its own. */
  private int leases;

  /**
   * @param peer number of the connection
   * @param malformed called after the server has counted a malformed request
   */
  ServeSide(
      TransportContext context,
      SendQueue sends,
      ConnectionBuffers buffers,
      PostedReceives receives,
      long peer,
      Consumer<String> malformed) {
    this.context = context;
    this.sends = sends;
    this.buffers = buffers;
    this.receives = receives;
    this.maxLocates = context.settings().locatesInFlight();
    this.maxOpen = context.settings().requestsOpen();
    this.peer = peer;
    this.maxBufferWaitNs = context.settings().requestTimeout().toNanos() / BUFFER_WAIT_PART;
    this.malformed = malformed;
  }

  /** A LOCATE was received; its receive buffer stays in use until it is answered. */
  void onLocate(ControlBuffer received, ByteBuffer message, long nowNs) {
    checkCredit();
    locatesOpen++;
    countReleased(Locate.releasedLeases(message));
    runWithSendSlot(
        () ->
            buffers.takeForAnswer(
                buffer -> context.server().locate(new Call(received, message, buffer), nowNs),
                nowNs + maxBufferWaitNs));
  }

  /** A RELEASE was received; it is answered when there is a buffer. */
  void onRelease(ByteBuffer message) {
    Release release = Release.decode(message);
    long requestId = release.requestId();
    boolean requestsCredits = release.requestsCredits();
    if (releaseOpen) {
      throw new MalformedMessageException("RELEASE before the answer to another");
    }
    releaseOpen = true;
    countReleased(release.leaseCount());
    for (int i = 0; i < release.leaseCount(); i++) {
      context.server().release(peer, release.leaseId(i));
    }
    runWithSendSlot(
        () -> buffers.takeForShortAnswer(buffer -> released(buffer, requestId, requestsCredits)));
  }

  private void released(ControlBuffer buffer, long requestId, boolean requestsCredits) {
    int credits = requestsCredits ? grantCredits() : 0;
    releaseOpen = false;
    send(buffer, Release.encodeAnswer(buffer.bytes(), requestId, credits));
  }

  /** Whether no request of the peer is open. */
  boolean isIdle() {
    return locatesOpen == 0 && !releaseOpen;
  }

  /** Whether the peer may be reading: its READs need nothing of this process. */
  boolean hasLeases() {
    return leases > 0;
  }

  private void countReleased(int released) {
    leases = Math.max(0, leases - released);
  }

  private void checkCredit() {
    if (locatesOpen == window) {
      throw new MalformedMessageException("more LOCATEs open than credits granted: " + window);
    }
  }

  /** The peer returns a credit; the receive that was posted for it has taken this message. */
  void onReturn(ByteBuffer message) {
    ReturnedCredit.check(message);
    checkCredit();
    if (window == TransportSettings.CREDITS_WHEN_IDLE) {
      throw new MalformedMessageException("RETURN of a credit that was not granted");
    }
    window--;
  }

  /** Posts more receives, as far as memory allows; returns the number of credits granted so. */
  private int grantCredits() {
    int max = Math.min(maxLocates - window, Release.MAX_CREDITS);
    int granted = 0;
    Optional<ControlBuffer> more = Optional.empty();
    if (max > 0) {
      more = buffers.tryTakeToGrow();
    }
    while (more.isPresent()) {
      receives.post(more.get());
      granted++;
      more = granted < max ? buffers.tryTakeToGrow() : Optional.empty();
    }
    window += granted;
    return granted;
  }

  /** Takes a buffer for an answer when the send queue has a free slot. */
  private void runWithSendSlot(Runnable takeBuffer) {
    if (sendSlotsInUse == maxOpen) {
      waitForSendSlot.add(takeBuffer);
    } else {
      sendSlotsInUse++;
      takeBuffer.run();
    }
  }

  private void send(ControlBuffer buffer, int lengthBytes) {
    sends.send(buffer.region(), buffer.regionOffset(), lengthBytes, () -> sent(buffer));
    sends.flush();
  }

  private void sent(ControlBuffer buffer) {
    sendSlotsInUse--;
    buffers.release(buffer);
    if (!waitForSendSlot.isEmpty()) {
      runWithSendSlot(waitForSendSlot.poll());
    }
  }

  /** A {@link Locate} in the server, with its buffers until the answer. */
  private final class Call implements LocateCall {
    private final ControlBuffer received;
    private final ByteBuffer message;
    private final ControlBuffer buffer;

    Call(ControlBuffer received, ByteBuffer message, ControlBuffer buffer) {
      this.received = received;
      this.message = message;
      this.buffer = buffer;
    }

    @Override
    public long peer() {
      return peer;
    }

    @Override
    public ByteBuffer request() {
      return message;
    }

    @Override
    public ByteBuffer answer() {
      return buffer.bytes();
    }

    @Override
    public void answered(int lengthBytes) {
      receives.post(received);
      locatesOpen--;
      leases += Located.hasLease(buffer.bytes()) ? 1 : 0;
      send(buffer, lengthBytes);
    }

    @Override
    public void malformed(String reason) {
      malformed.accept(reason);
    }
  }
}
