// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.OwnerThread;

/**
 * Objects shared by the classes of the agent; all owned by {@link TransportBuilder}.
 *
 * @param self this executor
 * @param waits of all that this executor's tasks wait for
 */
record AgentResources(
    TransportSettings settings,
    DeviceFitness fitness,
    MemoryShares shares,
    OpenDevice device,
    Identity self,
    AgentWork work,
    QueuePairThread queuePairs,
    CompletionQueues completions,
    MessageBuffers messageBuffers,
    ReceiveMemory receiveMemory,
    ReadLimit readLimit,
    WaitBudget waits,
    ShuffleCounters counters) {
  /** The agent. */
  OwnerThread agentThread() {
    return work.agentThread();
  }
}
