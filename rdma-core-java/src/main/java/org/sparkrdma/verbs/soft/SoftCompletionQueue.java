// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.engine.EngineDevice;

/**
 * A ring of completions: filled under the lock of the device, polled by the one thread that owns
 * the queue and its queue pairs. A poll of an empty queue makes the device's progress.
 */
final class SoftCompletionQueue extends EngineCompletionQueue {
  private static final VarHandle TAIL = handle("tail");
  private static final VarHandle HEAD = handle("head");

  private final DeviceLoop loop;
  private final Completion[] ring;
  private final int mask;
  private final AtomicBoolean armed = new AtomicBoolean();
  private volatile boolean overrun;

  /** Written under the lock of the device. */
  private long tail;

  /** Written by the polling thread. */
  private long head;

  /** Position of the next completion to show; confined to the polling thread. */
  private long cursor;

  /** Whether completions were published since the last {@link #signalIfArmed}; under the lock. */
  private boolean unsignalled;

  SoftCompletionQueue(EngineDevice<?> device, int capacity, SoftChannel channel, DeviceLoop loop) {
    super(device, capacity, channel);
    this.loop = loop;
    int size = Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
    ring = new Completion[size];
    mask = size - 1;
    for (int i = 0; i < size; i++) {
      ring[i] = new Completion();
    }
  }

  private static VarHandle handle(String field) {
    try {
      return MethodHandles.lookup().findVarHandle(SoftCompletionQueue.class, field, long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** An entry. Written under the lock of the device, then read by the thread that polls. */
  static final class Completion {
    final CompletionView view = new CompletionView();

    /** Null when there is nothing to show. */
    private SoftQueuePair queuePair;

    private boolean ofSend;

    /** Position of its work in the send or receive queue. */
    private long position;

    void set(SoftQueuePair owner, boolean send, long at) {
      queuePair = owner;
      ofSend = send;
      position = at;
    }
  }

  // Called with the lock of the device.

  /** The next free entry; null when there is none, and the queue is overrun from then on. */
  Completion next() {
    if (overrun || tail - (long) HEAD.getAcquire(this) >= capacity()) {
      overrun = true;
      return null;
    }
    return ring[(int) tail & mask];
  }

  /**
   * Publishes what was set in {@link #next}.
   *
   * @return whether it is the first since the last {@link #signalIfArmed}
   */
  boolean publish() {
    TAIL.setVolatile(this, tail + 1);
    boolean first = !unsignalled;
    unsignalled = true;
    return first;
  }

  void signalIfArmed() {
    unsignalled = false;
    if (armed.get() && armed.getAndSet(false)) {
      signal();
    }
  }

  // Called by the polling thread.

  @Override
  public int poll(int limit, CompletionHandler handler) {
    checkOpen();
    if (cursor == (long) TAIL.getAcquire(this)) {
      loop.poll();
    }
    int handled = 0;
    while (handled < limit && cursor < (long) TAIL.getAcquire(this)) {
      Completion completion = ring[(int) cursor & mask];
      cursor++;
      try {
        if (completion.queuePair.onPolled(completion.ofSend, completion.position)) {
          handled++;
          completion.view.hand(handler);
        }
      } finally {
        completion.queuePair = null;
        HEAD.setRelease(this, cursor);
      }
    }
    if (handled == 0 && overrun) {
      throw overrunException();
    }
    return handled;
  }

  /** Drops the completions of a closed queue pair. */
  void discard(SoftQueuePair closedPair) {
    long end = (long) TAIL.getAcquire(this);
    long to = end;
    for (long from = end - 1; from >= cursor; from--) {
      Completion completion = ring[(int) from & mask];
      if (completion.queuePair != closedPair) {
        to--;
        if (to != from) {
          swap((int) from & mask, (int) to & mask);
        }
      }
    }
    for (long at = cursor; at < to; at++) {
      ring[(int) at & mask].queuePair = null;
    }
    boolean handling = cursor > 0 && head < cursor;
    cursor = to;
    if (!handling) {
      HEAD.setRelease(this, cursor);
    }
  }

  private void swap(int a, int b) {
    Completion moved = ring[a];
    ring[a] = ring[b];
    ring[b] = moved;
  }

  @Override
  protected void requestNotification() {
    armed.set(true);
  }
}
