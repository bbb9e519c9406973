// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

/** The growth of a counter, summed over all executors, during a fault.
  *
  * @param counter
  *   its label; `fallback.REASON` for blocks that use TCP
  * @param text
  *   the range, as messages show it
  * @param least
  *   lowest growth for a number of hits
  * @param most
  *   highest growth for a number of hits
  */
private[faults] final case class Claim(
    counter: String,
    text: String,
    least: Int => Long,
    most: Int => Long
) {
  override def toString: String = s"${counter.stripPrefix(Claim.Fallback)} $text"
}

private[faults] object Claim {
  val Fallback = "fallback."

  def grows(counter: String): Claim = Claim(counter, "≥ 1", _ => 1, _ => Long.MaxValue)

  def never(counter: String): Claim = Claim(counter, "= 0", _ => 0, _ => 0)

  /** At least once, at most once for each hit. */
  def upToHits(counter: String): Claim =
    Claim(counter, "1 to hits", _ => 1, hits => hits.toLong)

  /** Once for each hit. */
  def eachHit(counter: String): Claim =
    Claim(counter, "= hits", hits => hits.toLong, hits => hits.toLong)

  /** Blocks use TCP for this reason. */
  def byTcp(reason: String): Claim = grows(Fallback + reason)

  /** All remote blocks are read by RDMA READ. */
  val AllByRead: Seq[Claim] = Seq(grows("rdma.blocks.read"), never("tcp.blocks.read"))
}
