// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.Locale;
import org.sparkrdma.verbs.device.Transport;

/**
 * Time that serving costs, in nanoseconds.
 *
 * @param registerNs of registering and deregistering a window, whatever its length
 * @param registerNsPerMib more for each MiB of the window
 * @param copyNs of opening a file and copying out of it, whatever the length
 * @param copyNsPerMib more for each MiB copied
 */
record ServingCosts(long registerNs, long registerNsPerMib, long copyNs, long copyNsPerMib) {
  private static final int MIB_SHIFT = 20;
  private static final long PINNING_NS_PER_MIB = 40_000;

  /** That of a hard disk with 250 MiB/s. A faster disk takes less time, but flash wears out. */
  private static final long WRITE_NS_PER_MIB = 4_000_000;

  /** A measurement disturbed by other load must not turn one way of serving off. */
  private static final int MAX_FACTOR = 8;

  /**
   * Costs where none are measured: of {@code ./bench serve}, see docs/benchmarks.md. Devices of the
   * kernel pin page by page, the loopback engine does not.
   */
  static ServingCosts assumed(Transport transport) {
    return new ServingCosts(
        45_000, transport == Transport.LOOPBACK ? 0 : PINNING_NS_PER_MIB, 12_000, 52_000);
  }

  /**
   * The costs that explain two lengths. Some are negative where the measurement was disturbed; see
   * {@link #near(ServingCosts)}.
   *
   * @param smallBytes less than {@code largeBytes}
   */
  static ServingCosts of(
      long smallBytes,
      long largeBytes,
      long registerSmallNs,
      long registerLargeNs,
      long copySmallNs,
      long copyLargeNs) {
    long lengthBytes = largeBytes - smallBytes;
    long registerNsPerMib = perMib(registerLargeNs - registerSmallNs, lengthBytes);
    long copyNsPerMib = perMib(copyLargeNs - copySmallNs, lengthBytes);
    return new ServingCosts(
        registerSmallNs - ofLength(registerNsPerMib, smallBytes),
        registerNsPerMib,
        copySmallNs - ofLength(copyNsPerMib, smallBytes),
        copyNsPerMib);
  }

  /**
   * These costs in a range around the assumed ones: from an eighth to eight times the assumed cost,
   * or to eight times that of pinning a MiB where this is more.
   */
  ServingCosts near(ServingCosts assumed) {
    return new ServingCosts(
        near(registerNs, assumed.registerNs),
        near(registerNsPerMib, assumed.registerNsPerMib),
        near(copyNs, assumed.copyNs),
        near(copyNsPerMib, assumed.copyNsPerMib));
  }

  private static long near(long ns, long assumedNs) {
    long highest = Math.max(assumedNs, PINNING_NS_PER_MIB) * MAX_FACTOR;
    return Math.min(highest, Math.max(assumedNs / MAX_FACTOR, ns));
  }

  private static long perMib(long ns, long lengthBytes) {
    return (ns << MIB_SHIFT) / lengthBytes;
  }

  private static long ofLength(long nsPerMib, long lengthBytes) {
    return (nsPerMib * lengthBytes) >> MIB_SHIFT;
  }

  /** Cost of registering and deregistering a window of this length. */
  long windowNs(long windowBytes) {
    return registerNs + ofLength(registerNsPerMib, windowBytes);
  }

  /** Cost of writing a window of this length to its disk; assumed for all disks. */
  static long writeNs(long windowBytes) {
    return ofLength(WRITE_NS_PER_MIB, windowBytes);
  }

  /** Cost of copying {@code lengthBytes} bytes. */
  long copyNs(long lengthBytes) {
    return copyNs + ofLength(copyNsPerMib, lengthBytes);
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "windowUs=%d windowUsPerMib=%d copyUs=%d copyUsPerMib=%d",
        registerNs / 1_000,
        registerNsPerMib / 1_000,
        copyNs / 1_000,
        copyNsPerMib / 1_000);
  }
}
