// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.ListenerAddress;

/**
 * Checks each second that the agent takes turns, and that this host still has the addresses of the
 * listeners: peers know them, so the loss of one needs a new start. It counts checks instead of
 * time: after a pause of the whole process one check finds the agent where it was, and the next one
 * does not. Confined to the control thread.
 */
final class TransportWatchdog {
  private static final Logger LOG = LoggerFactory.getLogger(TransportWatchdog.class);
  private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);
  private static final int MIN_CHECKS_FOR_HANG = 5;

  /** An address may be missing for a moment, as while its interface is configured again. */
  private static final int MISSED_CHECKS = 2;

  private final ConnectionResources context;
  private final Agent agent;
  private final Thread agentThread;
  private final long checksForHang;
  private int missedChecks;
  private long seenTurns;
  private int unchangedChecks;

  TransportWatchdog(ConnectionResources context, Agent agent, Thread agentThread) {
    this.context = context;
    this.agent = agent;
    this.agentThread = agentThread;
    this.checksForHang =
        Math.max(
            MIN_CHECKS_FOR_HANG, context.settings().requestTimeout().dividedBy(CHECK_INTERVAL));
  }

  /** Returns the reason why RDMA is lost; null while it is not, and after it was returned. */
  String check() {
    long turns = agent.turns();
    unchangedChecks = turns == seenTurns ? unchangedChecks + 1 : 0;
    seenTurns = turns;
    if (unchangedChecks == checksForHang) {
      Throwable stack = new Throwable("stack of " + agentThread.getName());
      stack.setStackTrace(agentThread.getStackTrace());
      LOG.error("Transport agent hangs in a call of the device; blocks use TCP", stack);
      return "the transport agent hangs in a call of the device";
    }
    boolean present =
        context.self().endpoint().addresses().stream().allMatch(TransportWatchdog::isOfThisHost);
    missedChecks = present ? 0 : missedChecks + 1;
    return missedChecks == MISSED_CHECKS
        ? "an address of the listeners was removed: device=" + context.info().name()
        : null;
  }

  /** Kernels report the loss of an address with RoCE only. */
  private static boolean isOfThisHost(ListenerAddress listener) {
    try {
      return NetworkInterface.getByInetAddress(listener.network().address()) != null;
    } catch (SocketException e) {
      LOG.debug("Addresses of this host are not known", e);
      return true;
    }
  }
}
