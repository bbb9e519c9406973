// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.net.InetAddress
import java.net.ServerSocket

import scala.util.Random
import scala.util.Try
import scala.util.Using

/** Ports for settings that need the number before the listener exists. */
private[scenarios] object FreePort {

  /** Below the ports that Linux gives to sockets that ask for any (from 32768 on, ip(7)): another
    * process would take one of those before its user listens on it.
    */
  private val Candidates = Range(12000, 32768)

  def choose(): Int =
    LazyList
      .continually(Candidates(Random.nextInt(Candidates.size)))
      .take(100)
      .find(port => Try(listen(port)).isSuccess)
      .get

  private def listen(port: Int): Unit =
    Using.resource(new ServerSocket(port, 1, InetAddress.getLoopbackAddress))(_ => ())
}
