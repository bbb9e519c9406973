// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.faults;

/** Model of a network with latency and faults: computes when a request may run. */
public final class Network {
  /** Due time of a request that hangs by the fault plan. */
  public static final long NEVER = Long.MAX_VALUE;

  private final long latencyNs;
  private final FaultPlan faults;
  private final boolean perfect;

  public Network(long latencyNs, FaultPlan faults) {
    this.latencyNs = latencyNs;
    this.faults = faults;
    perfect = latencyNs == 0 && !faults.isActive();
  }

  /**
   * Time at which a request may run, as of System.nanoTime; 0 for at once, {@link #NEVER} when it
   * hangs.
   *
   * @param read whether it is a READ, for the fault plan
   */
  public long dueNs(boolean read, long nowNs) {
    return perfect ? 0 : imperfect(read, nowNs);
  }

  private long imperfect(boolean read, long nowNs) {
    if (faults.fires(read ? FaultPlan.Kind.HANG : FaultPlan.Kind.SEND_HANG)) {
      return NEVER;
    }
    long delayNs = read ? faults.delayNs() : 0;
    long due = nowNs + latencyNs + delayNs;
    return due == 0 ? 1 : due;
  }
}
