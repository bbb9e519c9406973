// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.Locale;

/**
 * What it costs to register windows of files in a directory, and to copy their bytes instead, in
 * nanoseconds. A registration saves the opening of the file and the copy for each block, and costs
 * a call and something for each page; which is more differs between devices and file systems.
 *
 * <p>Measured beside the start ({@link FileProbe#measure}), then moved a little towards each real
 * call. Confined to the agent.
 */
public final class WindowPrice {
  /** A page as the price counts it, whatever the system's. */
  static final int PAGE_BYTES = 4_096;

  private static final double MICROSECOND_NS = 1_000;

  /** A window must save so much more than it costs: its price is paid at once. */
  private static final double MARGIN = 1.5;

  /**
   * Part by which a price moves towards a measurement, whatever its distance: so it follows the
   * median, and a thread that waited for a processor counts like any other.
   */
  private static final double STEP = 0.03;

  /** The first measurements count for more: those beside the start are of a cold JVM. */
  private static final int FIRST = 8;

  /** A first measurement that differs by more counts as so many times as much, or as little. */
  private static final double LARGEST_RATIO = 100;

  /** Copies that have cost so many times the price of a window allow one that does not pay. */
  private static final int TRIAL_PART = 50;

  /** A call and what it costs for each page. */
  static final class Cost {
    private double callNs;
    private double pageNs;
    private int measurements;

    Cost(double callNs, double pageNs) {
      this.callNs = callNs;
      this.pageNs = pageNs;
    }

    /** From the costs of a short and a long range. */
    static Cost of(long shortBytes, long shortNs, long longBytes, long longNs) {
      double pageNs =
          (double) Math.max(0, longNs - shortNs) / (longBytes - shortBytes) * PAGE_BYTES;
      double callNs = Math.max(0, shortNs - pageNs * shortBytes / PAGE_BYTES);
      return new Cost(callNs, pageNs);
    }

    double of(double calls, long bytes) {
      return calls * callNs + (double) bytes / PAGE_BYTES * pageNs;
    }

    private void learn(int calls, long bytes, long ns) {
      if (ns <= 0) {
        // Shorter than the clock can tell.
        return;
      }
      double expectedNs = of(calls, bytes);
      double factor = ns > expectedNs ? 1 + STEP : 1 - STEP;
      if (measurements < FIRST && expectedNs > 0) {
        measurements++;
        double ratio = Math.min(LARGEST_RATIO, Math.max(1 / LARGEST_RATIO, ns / expectedNs));
        factor = Math.pow(ratio, 1.0 / measurements);
      }
      callNs *= factor;
      pageNs *= factor;
    }
  }

  private final Cost registration;
  private final Cost deregistration;
  private final Cost copy;

  /** What copies have cost since the last trial. */
  private double copiedNs;

  WindowPrice(Cost registration, Cost deregistration, Cost copy) {
    this.registration = registration;
    this.deregistration = deregistration;
    this.copy = copy;
  }

  /**
   * From the costs of a short and a long range.
   *
   * @param shortNs of its registration, deregistration and copy
   * @param longNs likewise
   */
  public static WindowPrice of(long shortBytes, long[] shortNs, long longBytes, long[] longNs) {
    return new WindowPrice(
        Cost.of(shortBytes, shortNs[0], longBytes, longNs[0]),
        Cost.of(shortBytes, shortNs[1], longBytes, longNs[1]),
        Cost.of(shortBytes, shortNs[2], longBytes, longNs[2]));
  }

  private double priceNs(long lengthBytes) {
    return registration.of(1, lengthBytes) + deregistration.of(1, lengthBytes);
  }

  /**
   * Whether a window is worth its price.
   *
   * @param blocks that are expected to be read from it, each once
   * @param lengthBytes of the window
   */
  boolean pays(double blocks, long lengthBytes) {
    return copy.of(blocks, lengthBytes) > MARGIN * priceNs(lengthBytes);
  }

  /**
   * The longest blocks for which a window pays that is full of them, each read once.
   *
   * @param lengthBytes of the window, a power of two
   * @return a power of two from a page to the window; 0 where none does
   */
  public long longestBlockBytes(long lengthBytes) {
    long blockBytes = lengthBytes;
    while (blockBytes >= PAGE_BYTES && !pays((double) lengthBytes / blockBytes, lengthBytes)) {
      blockBytes /= 2;
    }
    return blockBytes < PAGE_BYTES ? 0 : blockBytes;
  }

  /** What a call and a page cost, of a window and of copies. */
  public String parts() {
    return String.format(
        Locale.ROOT,
        "a window costs %.1f us and %.0f ns a page, a copy %.1f us and %.0f ns",
        (registration.callNs + deregistration.callNs) / MICROSECOND_NS,
        registration.pageNs + deregistration.pageNs,
        copy.callNs / MICROSECOND_NS,
        copy.pageNs);
  }

  /**
   * Whether a window costs less than copies of some blocks in it, though no others are read.
   *
   * @param blocks number of the blocks
   * @param blockBytes of all of them
   * @param lengthBytes of the window
   */
  boolean paysFor(int blocks, long blockBytes, long lengthBytes) {
    return copy.of(blocks, blockBytes) > MARGIN * priceNs(lengthBytes);
  }

  /**
   * Whether a window is to be registered although it does not pay, because its price may be wrong:
   * only registrations correct it, and without them it stays as it was measured.
   */
  boolean isTrial(long lengthBytes) {
    boolean trial = copiedNs > TRIAL_PART * priceNs(lengthBytes);
    copiedNs = trial ? 0 : copiedNs;
    return trial;
  }

  /** A window was registered in so much time. */
  void onRegistered(long lengthBytes, long ns) {
    registration.learn(1, lengthBytes, ns);
  }

  /** A window was deregistered in so much time. */
  void onDeregistered(long lengthBytes, long ns) {
    deregistration.learn(1, lengthBytes, ns);
  }

  /** Bytes were copied in so much time. */
  void onCopied(int reads, long lengthBytes, long ns) {
    copiedNs += copy.of(reads, lengthBytes);
    copy.learn(reads, lengthBytes, ns);
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "registration of 1 MiB %.0f us, deregistration %.0f us, copy %.0f us, a block of 4 KiB %.1f us",
        registration.of(1, 1 << 20) / MICROSECOND_NS,
        deregistration.of(1, 1 << 20) / MICROSECOND_NS,
        copy.of(1, 1 << 20) / MICROSECOND_NS,
        copy.of(1, PAGE_BYTES) / MICROSECOND_NS);
  }
}
