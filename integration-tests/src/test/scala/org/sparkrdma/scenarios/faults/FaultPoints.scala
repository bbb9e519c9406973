// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

/** All faults of one cluster, in an order in which each leaves the cluster usable for the next. */
private[faults] object FaultPoints {
  def all: Seq[FaultPoint] =
    RegistrationFaults.all ++
      ConnectionFaults.all ++
      LocateFaults.all ++
      ReadFaults.all ++
      ReleaseFaults.all ++
      ProcessFaults.all ++
      LastFaults.all
}
