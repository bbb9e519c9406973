// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

/** Memory that leases hold: a window, or the copies of a load. Confined to the agent. */
interface Leased {
  /** A lease holds it, once; returns false when the lease holds it already. */
  boolean hold(Object lease);

  /** A lease holds it no more. */
  void release(long nowNs);
}
