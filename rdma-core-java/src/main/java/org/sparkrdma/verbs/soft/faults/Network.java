// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.faults;

/**
 * Model of a network with latency, bandwidth and faults: computes when a request may run. Requests
 * share the bandwidth in the order posted; each arrives one latency after its last byte was sent.
 * Guarded by the lock of the device.
 */
public final class Network {
  /** Due time of a request that hangs by the fault plan. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final double SECOND_NS = 1e9;

  private final long latencyNs;
  private final long bytesPerSecond;
  private final FaultPlan faults;
  private final boolean perfect;
  private long freeNs;
  private boolean busy;

  /** Bandwidth 0 means unlimited. */
  public Network(long latencyNs, long bytesPerSecond, FaultPlan faults) {
    this.latencyNs = latencyNs;
    this.bytesPerSecond = bytesPerSecond;
    this.faults = faults;
    perfect = latencyNs == 0 && bytesPerSecond == 0 && !faults.isActive();
  }

  /**
   * Time at which a request may run, as of System.nanoTime; 0 for at once, {@link #NEVER} when it
   * hangs.
   *
   * @param read whether it is a READ, for the fault plan
   */
  public long dueNs(boolean read, long lengthBytes, long nowNs) {
    return perfect ? 0 : imperfect(read, lengthBytes, nowNs);
  }

  private long imperfect(boolean read, long lengthBytes, long nowNs) {
    if (faults.fires(read ? FaultPlan.Kind.HANG : FaultPlan.Kind.SEND_HANG)) {
      return NEVER;
    }
    long delayNs = read ? faults.delayNs() : 0;
    long start = busy && freeNs - nowNs > 0 ? freeNs : nowNs;
    if (bytesPerSecond > 0) {
      busy = true;
      freeNs = start + Math.round(lengthBytes * SECOND_NS / bytesPerSecond);
      start = freeNs;
    }
    long due = start + latencyNs + delayNs;
    return due == 0 ? 1 : due;
  }
}
