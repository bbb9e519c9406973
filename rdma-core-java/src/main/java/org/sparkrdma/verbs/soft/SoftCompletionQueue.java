// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.soft.shared.SharedReceives;

/**
 * A ring of completions: filled under the lock of the device, polled by the one thread that owns
 * the queue and its queue pairs. A poll of an empty queue makes the device's progress.
 */
final class SoftCompletionQueue extends EngineCompletionQueue {
  private static final WorkStatus[] STATUSES = WorkStatus.values();

  private final DeviceLoop loop;
  private final int mask;
  private final long[] requestNumbers;
  private final long[] lengths;
  private final int[] statuses;
  private final int[] flags;
  private final int[] immediates;
  private final AtomicBoolean armed = new AtomicBoolean();

  /** Number of completions so far; written under the lock of the device. */
  private final AtomicLong tail = new AtomicLong();

  /** Number of completions shown; written by the polling thread. */
  private final AtomicLong head = new AtomicLong();

  /** Position of the first of those taken last; confined to the polling thread. */
  private long first;

  /** Whether there were completions since the last {@link #signalIfArmed}; under the lock. */
  private boolean unsignalled;

  SoftCompletionQueue(SoftDevice device, int capacity, SoftChannel channel) {
    super(device, capacity, channel);
    loop = device.loop;
    int size = Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
    mask = size - 1;
    requestNumbers = new long[size];
    lengths = new long[size];
    statuses = new int[size];
    flags = new int[size];
    immediates = new int[size];
  }

  // Called with the lock of the device.

  /**
   * Adds a completion; false when there is no room, and the queue is overrun from then on.
   *
   * @param completionFlags as of a message in {@link SharedReceives}; 0 for a send
   */
  boolean add(
      long requestNumber, WorkStatus status, long lengthBytes, int completionFlags, int immediate) {
    long position = tail.getPlain();
    if (isOverrun() || position - head.getAcquire() >= capacity()) {
      markOverrun();
      return false;
    }
    int i = (int) position & mask;
    requestNumbers[i] = requestNumber;
    statuses[i] = status.ordinal();
    lengths[i] = lengthBytes;
    flags[i] = completionFlags;
    immediates[i] = immediate;
    tail.set(position + 1);
    if (!unsignalled) {
      unsignalled = true;
      loop.signalLater(this);
    }
    return true;
  }

  void signalIfArmed() {
    unsignalled = false;
    if (armed.get() && armed.getAndSet(false)) {
      signal();
    }
  }

  // Called by the polling thread.

  @Override
  protected int take(int count) {
    first = head.getPlain();
    if (first == tail.getAcquire()) {
      loop.poll(true);
    }
    return (int) Math.min(count, tail.getAcquire() - first);
  }

  @Override
  protected void read(int index, CompletionView into) {
    long position = first + index;
    int i = (int) position & mask;
    into.set(
        requestNumbers[i],
        STATUSES[statuses[i]],
        0,
        (flags[i] & SharedReceives.WRITTEN) != 0,
        lengths[i],
        (flags[i] & SharedReceives.WITH_IMMEDIATE) != 0,
        immediates[i]);
    head.setRelease(position + 1);
  }

  @Override
  protected void requestNotification() {
    armed.set(true);
  }
}
