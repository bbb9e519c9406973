// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.Objects;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.device.DeviceLimits;

/**
 * The state of a queue pair, and the checks of what its owner posts.
 *
 * <pre>
 *  INIT ──► READY_TO_SEND ──► ERROR ──► DESTROYED     (INIT may break, all may be destroyed)
 * </pre>
 *
 * <p>Inheritance, because delegation measurably slows post and poll. The owner posts and polls. Any
 * thread changes the state, under the queue pair's lock.
 */
public abstract class EngineQueuePair implements QueuePair {
  private final EngineProtectionDomain domain;
  private final int number;
  private final int maxSge;
  private final int maxReadSge;
  private final long maxMessageBytes;
  private final int maxInlineBytes;
  private final boolean hasImmediateData;
  private volatile QueuePairState state = QueuePairState.INIT;

  /**
   * @param number as the device calls it
   * @param hasImmediateData whether the device sends immediate data
   */
  protected EngineQueuePair(
      EngineProtectionDomain domain,
      int number,
      QueuePairSettings settings,
      DeviceLimits limits,
      boolean hasImmediateData) {
    this.domain = domain;
    this.number = number;
    this.hasImmediateData = hasImmediateData;
    maxSge = settings.maxSge();
    maxReadSge = Math.min(maxSge, limits.maxReadSge());
    maxMessageBytes = limits.maxMessageBytes();
    maxInlineBytes = settings.maxInlineBytes();
  }

  @Override
  public final int number() {
    return number;
  }

  @Override
  public final QueuePairState state() {
    return state;
  }

  protected final boolean isDestroyed() {
    return state == QueuePairState.DESTROYED;
  }

  // Checks of what the owner posts.

  /**
   * @throws IllegalStateException when nothing may be sent
   */
  protected final void checkMaySend() {
    if (state == QueuePairState.INIT || state == QueuePairState.DESTROYED) {
      throw new IllegalStateException("not connected: state=" + state);
    }
  }

  /**
   * @throws IllegalStateException when nothing may be received or changed
   */
  protected final void checkOpen() {
    if (isDestroyed()) {
      throw new IllegalStateException("queue pair is closed");
    }
  }

  /**
   * @throws IllegalArgumentException when it is no send, READ or WRITE that the device can do
   */
  protected final void checkSend(WorkRequest request) {
    Opcode opcode = request.opcode();
    if (opcode != Opcode.READ) {
      checkOpcode(opcode);
    }
    if (request.isInline()) {
      checkInline(request);
    }
    checkElements(request, opcode == Opcode.READ ? maxReadSge : maxSge, false);
  }

  private void checkOpcode(Opcode opcode) {
    if (opcode == null || opcode == Opcode.RECEIVE) {
      throw new IllegalArgumentException("not a send, read or write: opcode=" + opcode);
    }
    if ((opcode == Opcode.WRITE_WITH_IMMEDIATE || opcode == Opcode.SEND_WITH_IMMEDIATE)
        && !hasImmediateData) {
      throw new IllegalArgumentException("the device has no immediate data: opcode=" + opcode);
    }
  }

  private void checkInline(WorkRequest request) {
    if (request.opcode() == Opcode.READ || request.totalBytes() > maxInlineBytes) {
      throw new IllegalArgumentException(
          "cannot be inline: opcode="
              + request.opcode()
              + (" lengthBytes=" + request.totalBytes() + " limit=" + maxInlineBytes));
    }
  }

  /**
   * @throws IllegalArgumentException when it is no receive that the device can do
   */
  protected final void checkReceive(WorkRequest request) {
    if (request.opcode() != Opcode.RECEIVE) {
      throw new IllegalArgumentException("not a receive: opcode=" + request.opcode());
    }
    checkElements(request, maxSge, true);
  }

  private void checkElements(WorkRequest request, int limit, boolean written) {
    LimitChecks.checkLength(request, limit, maxMessageBytes);
    if (request.elementCount() == 1) {
      // Apart from the loop, which costs more than the check.
      checkElement(request, 0, written);
    } else {
      for (int i = 0; i < request.elementCount(); i++) {
        checkElement(request, i, written);
      }
    }
  }

  private void checkElement(WorkRequest request, int i, boolean written) {
    if (!(request.region(i) instanceof EngineRegion region) || region.domain() != domain) {
      throw new IllegalArgumentException("memory of another protection domain: element=" + i);
    }
    if (written && !region.isLocallyWritable()) {
      throw new IllegalArgumentException("memory without LOCAL_WRITE: element=" + i);
    }
    if (request.isInline()) {
      checkInlineElement(region, i);
    }
  }

  /** This process copies inline data; the device checks the keys of all other memory itself. */
  private static void checkInlineElement(EngineRegion region, int i) {
    if (region.isFile()) {
      throw new IllegalArgumentException("inline data cannot come from a file: element=" + i);
    }
    if (region.isClosed()) {
      throw new IllegalStateException("memory region is closed: element=" + i);
    }
  }

  @Override
  public final int postSend(WorkRequest[] requests, int offset, int count) {
    Objects.checkFromIndexSize(offset, count, requests.length);
    checkMaySend();
    return postSends(requests, offset, count);
  }

  /**
   * Posts at most this number; returns the number posted. A bad request is reported after those
   * before it.
   */
  protected abstract int postSends(WorkRequest[] requests, int offset, int count);

  /**
   * @throws IllegalArgumentException when peers cannot have that access
   * @throws IllegalStateException after close
   */
  protected final void checkRemoteAccess(Set<AccessFlag> access) {
    QueuePairSettings.checkRemoteAccess(access);
    checkOpen();
  }

  /** Called once, when it is complete: its creation cannot fail any more. */
  protected void onCreated() {}

  // The state, under the queue pair's lock.

  /** The connection is established; false when the queue pair is broken or destroyed. */
  protected final synchronized boolean setReady() {
    if (state == QueuePairState.INIT) {
      state = QueuePairState.READY_TO_SEND;
    }
    return state == QueuePairState.READY_TO_SEND;
  }

  /** No more work is executed; false when it was broken or destroyed before. */
  protected final synchronized boolean setBroken() {
    if (state != QueuePairState.INIT && state != QueuePairState.READY_TO_SEND) {
      return false;
    }
    onBreaking();
    state = QueuePairState.ERROR;
    return true;
  }

  /** Called once, under the lock, before the state becomes ERROR. */
  protected void onBreaking() {}

  /** Completions are not shown any more; false when it was destroyed before. */
  protected final synchronized boolean setDestroyed() {
    boolean first = state != QueuePairState.DESTROYED;
    state = QueuePairState.DESTROYED;
    return first;
  }

  /** It was closed: the domain may be closed. */
  protected final void leaveDomain() {
    domain.onClosed(this);
  }
}
