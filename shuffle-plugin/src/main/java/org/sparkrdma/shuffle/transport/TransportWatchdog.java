// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.ListenerAddress;

/**
 * Checks each second that the agent takes turns, that no creation of a queue pair hangs, and that
 * this host still has the addresses of the listeners: peers know them, so the loss of one needs a
 * new start. It counts checks instead of time: after a pause of the whole process one check finds
 * the agent where it was, and the next one does not. Confined to the control thread.
 */
final class TransportWatchdog {
  private static final Logger LOG = LoggerFactory.getLogger(TransportWatchdog.class);
  private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);
  private static final int MIN_CHECKS_FOR_HANG = 5;

  /** Checks in a row, each in time, that find the agent where it was: it is inside a call. */
  private static final int CHECKS_FOR_TCP = 2;

  /** An address may be missing for a moment, as while its interface is configured again. */
  private static final int MISSED_CHECKS = 2;

  private final AgentResources shared;
  private final Agent agent;
  private final Turns agentTurns;
  private final Turns queuePairs;
  private final long checksForHang;
  private int missedChecks;
  private long checkedNs;

  /** Checks since the last one that came late, as they do on a busy machine. */
  private int timelyChecks;

  TransportWatchdog(AgentResources shared, Agent agent, Thread agentThread) {
    this.shared = shared;
    this.agent = agent;
    this.agentTurns = new Turns(agentThread, agent::turns);
    this.queuePairs = new Turns(shared.queuePairs().thread(), shared.queuePairs()::turns);
    this.checksForHang =
        Math.max(MIN_CHECKS_FOR_HANG, shared.settings().requestTimeout().dividedBy(CHECK_INTERVAL));
    this.checkedNs = shared.device().nanoClock().getAsLong();
  }

  /** Returns the reason why RDMA is lost; null while it is not, and after it was returned. */
  String check() {
    long nowNs = shared.device().nanoClock().getAsLong();
    timelyChecks = nowNs - checkedNs > 2 * CHECK_INTERVAL.toNanos() ? 0 : timelyChecks + 1;
    checkedNs = nowNs;
    if (agentTurns.haveStopped()) {
      return "the transport agent hangs in a call of the device";
    }
    if (Math.min(agentTurns.unchangedChecks, timelyChecks) >= CHECKS_FOR_TCP && !agent.hangs()) {
      agent.markHung(agentTurns.seen);
      LOG.warn(
          "A call of the device takes seconds; blocks use TCP until it ends", agentTurns.stack());
    }
    if (queuePairs.haveStopped()) {
      return "the device hangs while it creates a queue pair";
    }
    boolean present =
        shared.self().endpoint().addresses().stream().allMatch(TransportWatchdog::isOfThisHost);
    missedChecks = present ? 0 : missedChecks + 1;
    return missedChecks == MISSED_CHECKS
        ? "an address of the listeners was removed: device=" + shared.fitness().device().name()
        : null;
  }

  /** The turns of a thread at the last checks. */
  private final class Turns {
    private final Thread thread;
    private final LongSupplier turns;
    private long seen;
    private int unchangedChecks;

    Turns(Thread thread, LongSupplier turns) {
      this.thread = thread;
      this.turns = turns;
    }

    /** Whether the thread has been in one call of the device for too long; true once. */
    boolean haveStopped() {
      long now = turns.getAsLong();
      unchangedChecks = now == seen && now != QueuePairThread.IDLE ? unchangedChecks + 1 : 0;
      seen = now;
      if (unchangedChecks != checksForHang) {
        return false;
      }
      LOG.error("A thread hangs in a call of the device; blocks use TCP", stack());
      return true;
    }

    Throwable stack() {
      Throwable stack = new Throwable("stack of " + thread.getName());
      stack.setStackTrace(thread.getStackTrace());
      return stack;
    }
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
