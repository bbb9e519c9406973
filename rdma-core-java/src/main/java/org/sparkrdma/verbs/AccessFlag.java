// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

/** Access that is allowed to a region, or through a queue pair; see ibv_reg_mr(3). */
public enum AccessFlag {
  /** The device may write for its owner: receives and the sinks of RDMA READ need it. */
  LOCAL_WRITE,
  /** Peers may write; needs {@link #LOCAL_WRITE} as well. */
  REMOTE_WRITE,
  /** Peers may read. */
  REMOTE_READ,
  /**
   * For regions only: their pages are not pinned; the device faults them in when they are used.
   * Requires {@link org.sparkrdma.verbs.device.Capability#ON_DEMAND_PAGING}.
   */
  ON_DEMAND
}
