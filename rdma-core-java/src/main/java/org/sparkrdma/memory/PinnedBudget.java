// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongBinaryOperator;
import java.util.function.LongConsumer;
import org.sparkrdma.leak.LeakRecord;

/**
 * The one account of bytes that this process has pinned.
 *
 * <p>Registering memory needs a {@link Grant}, which is closed after deregistration, so that the
 * sum never exceeds the limit that RLIMIT_MEMLOCK and the container allow (getrlimit(2), "memory"
 * in cgroups(7)). The kernel pins whole pages, so grants are counted in whole pages.
 *
 * <p>A device may refuse a registration although there is a grant: it has a limit of regions, the
 * control group one of objects (max_mr, hca_object), and RLIMIT_MEMLOCK may be lower than this
 * limit. Then regions of this account must be closed, too, see {@link #reportRefusal}: {@code
 * RegionSource} and the plug-in's {@code FileWindows} report, and its {@code WaitingLocates} closes
 * what nothing uses.
 *
 * <p>Safe for any thread: a grant is one compare-and-set, nothing blocks. Owned and closed by the
 * runtime, last.
 */
public final class PinnedBudget implements AutoCloseable {
  private static final LongBinaryOperator LARGER = Math::max;

  private final long limitBytes;
  private final long pageBytes;
  private final AtomicLong pinnedBytes = new AtomicLong();
  private final AtomicLong highestBytes = new AtomicLong();
  private final AtomicBoolean refused = new AtomicBoolean();
  private volatile LongConsumer shortage = lengthBytes -> {};
  private volatile long reservedBytes;

  /**
   * A budget of which nothing is granted.
   *
   * @param limitBytes rounded down to whole pages
   * @param pageBytes length of a page, a power of two
   * @throws IllegalArgumentException if {@code limitBytes} is negative or {@code pageBytes} no
   *     power of two
   */
  public PinnedBudget(long limitBytes, long pageBytes) {
    if (limitBytes < 0 || pageBytes <= 0 || Long.bitCount(pageBytes) != 1) {
      throw new IllegalArgumentException(
          "bad pinned budget: limitBytes=" + limitBytes + " pageBytes=" + pageBytes);
    }
    this.limitBytes = limitBytes & -pageBytes;
    this.pageBytes = pageBytes;
  }

  /**
   * Takes {@code lengthBytes}, rounded up to whole pages, from the budget.
   *
   * @param lengthBytes number of bytes, at least 1
   * @return empty when they do not fit now; the caller then evicts, copies, or falls back to TCP
   * @throws IllegalArgumentException if {@code lengthBytes} is not positive
   */
  public Optional<Grant> tryGrant(long lengthBytes) {
    if (lengthBytes <= 0) {
      throw new IllegalArgumentException(
          "a grant needs at least one byte: lengthBytes=" + lengthBytes);
    }
    if (lengthBytes > limitBytes || !tryTake(wholePages(lengthBytes))) {
      return Optional.empty();
    }
    return Optional.of(new Grant(wholePages(lengthBytes)));
  }

  private boolean tryTake(long wholePages) {
    long pinned;
    do {
      pinned = pinnedBytes.get();
      if (wholePages > limitBytes - pinned) {
        return false;
      }
    } while (!pinnedBytes.compareAndSet(pinned, pinned + wholePages));
    if (pinned + wholePages > highestBytes.get()) {
      highestBytes.accumulateAndGet(pinned + wholePages, LARGER);
    }
    return true;
  }

  /**
   * Sets the listener that releases pinned memory which is not in use. It replaces the listener of
   * before.
   *
   * @param reclaim gets the number of bytes needed; runs on any thread and must return at once
   */
  public void onShortage(LongConsumer reclaim) {
    shortage = reclaim;
  }

  /**
   * A grant of {@code lengthBytes} was refused and will be tried again: idle memory should be
   * released.
   *
   * @param lengthBytes number of bytes of the refused grant
   */
  public void reportShortage(long lengthBytes) {
    shortage.accept(lengthBytes);
  }

  /**
   * The device has refused to register memory that was granted: idle regions should be closed,
   * although the budget could grant more. The listener of shortages is called; {@link #takeRefusal}
   * says that it was a refusal.
   *
   * @param lengthBytes number of bytes that the device did not register
   */
  public void reportRefusal(long lengthBytes) {
    refused.set(true);
    shortage.accept(lengthBytes);
  }

  /**
   * Takes the report of a refusal; for the listener of shortages.
   *
   * @return whether a refusal was reported since the last call
   */
  public boolean takeRefusal() {
    return refused.getAndSet(false);
  }

  /** Overflows only for lengths near 2^63, which exceed every limit. */
  private long wholePages(long lengthBytes) {
    return (lengthBytes + pageBytes - 1) & -pageBytes;
  }

  /**
   * Sets how many bytes memory that cannot be reclaimed at once must leave to others. Grants are
   * not affected. The caller that takes such memory checks {@link #reservedBytes}.
   *
   * @param lengthBytes number of bytes, from 0 to the limit
   * @throws IllegalArgumentException unless it is between 0 and the limit
   */
  public void reserve(long lengthBytes) {
    if (lengthBytes < 0 || lengthBytes > limitBytes) {
      throw new IllegalArgumentException(
          "bad reserve: lengthBytes=" + lengthBytes + " limitBytes=" + limitBytes);
    }
    reservedBytes = lengthBytes;
  }

  /**
   * {@return bytes that memory which cannot be reclaimed at once must leave to others; 0 by
   * default}
   */
  public long reservedBytes() {
    return reservedBytes;
  }

  /** {@return the maximum number of bytes granted at any time} */
  public long limitBytes() {
    return limitBytes;
  }

  /** {@return the length of a page: grants are whole pages} */
  public long pageBytes() {
    return pageBytes;
  }

  /** {@return bytes granted now; always between 0 and the limit} */
  public long pinnedBytes() {
    return pinnedBytes.get();
  }

  /** {@return bytes that could be granted now} */
  public long availableBytes() {
    return limitBytes - pinnedBytes.get();
  }

  /** {@return the highest number of bytes granted so far} */
  public long highestBytes() {
    return highestBytes.get();
  }

  /**
   * @throws IllegalStateException if grants are outstanding: memory is still registered somewhere
   */
  @Override
  public void close() {
    long leaked = pinnedBytes.get();
    if (leaked != 0) {
      throw new IllegalStateException("closed with memory still pinned: leakedBytes=" + leaked);
    }
  }

  /** The right to keep {@link #heldBytes} pinned until closed; closing twice is a no-op. */
  public final class Grant implements AutoCloseable {
    /** 0 before the bytes are taken. */
    private final AtomicLong heldBytes;

    private final LeakRecord leakRecord = LeakRecord.acquire("grant of pinned bytes");

    private Grant(long bytes) {
      heldBytes = new AtomicLong(bytes);
    }

    /** {@return bytes this grant still holds, whole pages; 0 once closed} */
    public long heldBytes() {
      return heldBytes.get();
    }

    @Override
    public void close() {
      pinnedBytes.addAndGet(-heldBytes.getAndSet(0));
      leakRecord.release();
    }
  }
}
