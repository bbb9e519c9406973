/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.engine;

import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkStatus;

/**
 * What queue pairs of real devices have in common: the state, which says where work goes, and the
 * work that was posted and not yet shown.
 *
 * <p>The device alone executes work. Once the queue pair is broken, new work no longer goes to the
 * device but is flushed here; and what the device had and has not given back some time later is
 * flushed here too, since not every device gives back all of it. A completion that comes after that
 * finds its place given up.
 *
 * <pre>
 *  INIT ──► READY_TO_SEND ──► ERROR ──► DESTROYED     (INIT may break, all may be destroyed)
 * </pre>
 *
 * <p>A superclass and no part, since each step to a part shows in what a post and a poll cost. Its
 * owner posts and polls. The state changes on any thread, under the queue pair's lock.
 */
public abstract class EngineQueuePair implements QueuePair {
  /** What becomes of a completion of the device. */
  public enum Shown {
    /** Nobody is to see it: its place was given up, or the queue pair is closed. */
    NOT,
    /** It is shown. */
    YES,
    /** One that the device left out is shown before it; it is to be offered again. */
    AN_EARLIER_ONE
  }

  /** In the lower half of a request's number, that it is a receive. */
  protected static final int RECEIVE_BIT = 1 << 31;

  private static final int RECEIVED_WITH_WRITE = 129;
  private static final int WITH_IMMEDIATE = 2;

  private final int name;
  private final int number;

  /** Sends, reads and writes. */
  protected final WorkRing sends;

  protected final WorkRing receives;

  private final long flushWaitNs;
  private final boolean mayFailSilently;
  private volatile QueuePairState state = QueuePairState.INIT;
  private volatile long brokenAtNs;

  /**
   * @param name the upper half of its requests' numbers
   * @param number as the device calls it
   * @param flushWaitNs how long the device may keep work of a broken queue pair
   * @param mayFailSilently whether unsignalled work may fail without a completion
   */
  protected EngineQueuePair(
      int name, int number, QueuePairSettings settings, long flushWaitNs, boolean mayFailSilently) {
    this.name = name;
    this.number = number;
    this.flushWaitNs = flushWaitNs;
    this.mayFailSilently = mayFailSilently;
    sends = new WorkRing(settings.sendDepth());
    receives = new WorkRing(settings.receiveDepth());
  }

  /** The upper half of its requests' numbers. */
  final int name() {
    return name;
  }

  @Override
  public final int number() {
    return number;
  }

  /** The number of a request whose lower half is that. */
  protected final long requestNumber(int low) {
    return (long) name << Integer.SIZE | Integer.toUnsignedLong(low);
  }

  @Override
  public final QueuePairState state() {
    return state;
  }

  /** Whether it was closed. */
  protected final boolean isDestroyed() {
    return state == QueuePairState.DESTROYED;
  }

  /**
   * @throws IllegalStateException when nothing may be sent
   */
  protected final void checkMaySend() {
    if (state == QueuePairState.INIT || state == QueuePairState.DESTROYED) {
      throw new IllegalStateException("not connected: state=" + state);
    }
  }

  /**
   * @throws IllegalStateException when nothing may be received, nor changed
   */
  protected final void checkOpen() {
    if (isDestroyed()) {
      throw new IllegalStateException("queue pair is closed");
    }
  }

  // Showing, by the owner.

  /** Shows that a send went well. */
  protected final Shown showSend(long position, CompletionView view) {
    view.setSuccess(sends.id(position), number, sends.opcode(position), sends.length(position));
    sends.free(position);
    return Shown.YES;
  }

  /** Shows that a receive went well; the rest is what ibv_wc says. */
  protected final Shown showReceive(
      long position, int opcode, int lengthBytes, int flags, int immediate, CompletionView view) {
    view.setSuccess(
        receives.id(position),
        number,
        opcode == RECEIVED_WITH_WRITE ? Opcode.RECEIVE_WRITE_WITH_IMMEDIATE : Opcode.RECEIVE,
        Integer.toUnsignedLong(lengthBytes));
    if ((flags & WITH_IMMEDIATE) != 0) {
      view.setImmediate(Integer.reverseBytes(immediate));
    }
    receives.free(position);
    return Shown.YES;
  }

  /** Shows that the work at that place failed, or first one before it that failed silently. */
  protected final Shown showFailure(
      WorkRing ring, long position, WorkStatus status, int vendorError, CompletionView view) {
    if (ring.head() < position && mayFailSilently) {
      showFlushed(ring, view);
      return Shown.AN_EARLIER_ONE;
    }
    view.setFailure(ring.id(position), number, status, vendorError);
    ring.free(position);
    return Shown.YES;
  }

  private void showFlushed(WorkRing ring, CompletionView view) {
    view.setFailure(ring.id(ring.head()), number, WorkStatus.FLUSH_ERROR, 0);
    ring.free(ring.head());
  }

  /**
   * Flushes the oldest work of a broken queue pair that the device never got, or has had for too
   * long. Of the thread that polls that queue.
   *
   * @return whether there was any; it is shown then
   */
  protected abstract boolean flushOne(CompletionQueue queue, long nowNs, CompletionView view);

  /** As the other, of one of the two. */
  protected final boolean flushOne(WorkRing ring, long nowNs, CompletionView view) {
    if (state != QueuePairState.ERROR
        || ring.isEmpty()
        || (ring.isWithDevice() && nowNs - brokenAtNs < flushWaitNs)) {
      return false;
    }
    showFlushed(ring, view);
    return true;
  }

  /** When work that is with the device will be given up; Long.MAX_VALUE when there is none. */
  final long flushDeadlineNs() {
    return sends.isEmpty() && receives.isEmpty() ? Long.MAX_VALUE : brokenAtNs + flushWaitNs;
  }

  // The state, under the queue pair's lock.

  /** The connection has been made. */
  protected final void setReady() {
    if (state == QueuePairState.INIT) {
      state = QueuePairState.READY_TO_SEND;
    }
  }

  /** The device will do no more work; false when that was known. */
  protected final boolean setBroken() {
    if (state != QueuePairState.INIT && state != QueuePairState.READY_TO_SEND) {
      return false;
    }
    brokenAtNs = System.nanoTime();
    state = QueuePairState.ERROR;
    return true;
  }

  /** Nothing is shown any more; false when that was known. */
  protected final boolean setDestroyed() {
    boolean first = state != QueuePairState.DESTROYED;
    state = QueuePairState.DESTROYED;
    return first;
  }
}
