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
  ON_DEMAND,
  /**
   * For regions only, as a hint: the device may write what it receives in any order, which is
   * faster on some hosts with AMD or ARM processors. A completion still follows all its data, but a
   * program must not poll the memory instead. Without effect where the device or the kernel (before
   * 5.7) does not know it; IBV_ACCESS_RELAXED_ORDERING of ibv_reg_mr(3).
   */
  RELAXED_ORDERING
}
