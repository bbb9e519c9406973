// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

/** All faults, in an order in which each leaves its cluster usable for the next. */
private[faults] object FaultPoints {

  /** Those under the usual way of serving, and the others, by the way of serving. */
  val (usual, others) = {
    val all = RegistrationFaults.all ++
      ConnectionFaults.all ++
      LocateFaults.all ++
      ReadFaults.all ++
      ReleaseFaults.all ++
      ProcessFaults.all
    val (first, last) = all.partition(_.serve == "auto")
    (first, last.sortBy(_.serve))
  }
}
