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
package org.sparkrdma.verbs.soft;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;

/**
 * A ring of completions: filled by the device thread, polled by the one thread that owns the queue
 * and its queue pairs.
 */
final class SoftCompletionQueue implements CompletionQueue {
  private static final VarHandle TAIL = handle("tail");
  private static final VarHandle HEAD = handle("head");

  private final SoftDevice device;
  private final SoftCompletionChannel channel;
  private final int capacity;
  private final Completion[] ring;
  private final int mask;
  private final AtomicBoolean armed = new AtomicBoolean();
  private final AtomicInteger users = new AtomicInteger();
  private volatile boolean overrun;
  private volatile boolean closed;

  /** Written by the device thread. */
  private long tail;

  /** Written by the polling thread. */
  private long head;

  /** The polling thread's: the next to hand over. */
  private long cursor;

  /** The device thread's: a completion has come since the last {@link #signalIfArmed}. */
  private boolean unsignalled;

  SoftCompletionQueue(SoftDevice device, int capacity, SoftCompletionChannel channel) {
    this.device = device;
    this.capacity = capacity;
    this.channel = channel;
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

  // The device thread's side.

  /** The place for the next completion; null when there is none, and the queue is lost then. */
  Completion next() {
    if (overrun || tail - (long) HEAD.getAcquire(this) >= capacity) {
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
      channel.signal();
    }
  }

  // The polling thread's side.

  @Override
  public int capacity() {
    return capacity;
  }

  @Override
  public int poll(int limit, CompletionHandler handler) {
    if (closed) {
      throw new IllegalStateException("completion queue is closed");
    }
    int handled = 0;
    while (handled < limit && cursor < (long) TAIL.getAcquire(this)) {
      Completion completion = ring[(int) cursor & mask];
      cursor++;
      try {
        if (completion.queuePair.onPolled(completion.ofSend, completion.position)) {
          handled++;
          handler.onCompletion(completion);
        }
      } finally {
        completion.queuePair = null;
        HEAD.setRelease(this, cursor);
      }
    }
    if (handled == 0 && overrun) {
      throw new IllegalStateException("completion queue was overrun: capacity=" + capacity);
    }
    return handled;
  }

  /** Drops what a closed queue pair has left, by moving the rest together. */
  void discard(SoftQueuePair closedPair) {
    long end = (long) TAIL.getAcquire(this);
    long to = end;
    for (long from = end - 1; from >= cursor; from--) {
      Completion completion = ring[(int) from & mask];
      if (completion.queuePair != closedPair) {
        to--;
        if (to != from) {
          ring[(int) to & mask].copyFrom(completion);
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

  @Override
  public void arm() {
    if (channel == null) {
      throw new IllegalStateException("completion queue has no channel");
    }
    armed.set(true);
  }

  // Any thread.

  SoftDevice device() {
    return device;
  }

  void retain() {
    users.incrementAndGet();
  }

  void release() {
    users.decrementAndGet();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (users.get() > 0) {
      throw new IllegalStateException("queue pairs complete in it: queuePairs=" + users.get());
    }
    closed = true;
    device.forget(this);
  }
}
