// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.OwnerThread;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * Objects shared by the classes of the agent; all owned by {@link RdmaTransport}.
 *
 * @param self this executor
 * @param waits of all that this executor's tasks wait for
 */
record ConnectionResources(
    TransportSettings settings,
    MemoryShares shares,
    OpenDevice device,
    Identity self,
    AgentCommands commands,
    QueuePairThread queuePairs,
    CompletionQueues completions,
    MessageBuffers messageBuffers,
    ReceiveMemory receiveMemory,
    ReadsInFlight inFlight,
    WaitBudget waits,
    ShuffleCounters counters,
    Connections connections) {
  private static final int MAX_READ_DEPTH = 16;

  DeviceInfo info() {
    return device.device().info();
  }

  /** The agent. */
  OwnerThread agentThread() {
    return connections.agentThread();
  }

  /** Maximum READs that the devices of both ends have outstanding per queue pair. */
  int readDepth() {
    return Math.min(MAX_READ_DEPTH, info().limits().maxReadsInFlight());
  }

  /** Whether the queue pair limits the access of peers, and the limit can change. */
  boolean limitsAccess() {
    return info().can(Capability.QUEUE_PAIR_ACCESS);
  }

  /** Private data of a rejection for want of room; empty where the device sends none. */
  byte[] full() {
    return info().limits().maxPrivateDataBytes() > 0 ? new byte[] {Messages.FULL} : new byte[0];
  }

  /** The initiator's queue pair as both ends see it; 0 where a request does not contain it. */
  boolean requestHasQueuePair() {
    return info().can(Capability.REQUEST_HAS_QUEUE_PAIR);
  }
}
