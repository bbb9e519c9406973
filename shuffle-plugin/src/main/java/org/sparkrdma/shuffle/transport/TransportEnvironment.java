// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.verbs.Device;

/**
 * Resources of a {@link RdmaTransport}.
 *
 * @param device open; closed by the caller, after the transport
 * @param budget the one account of pinned bytes
 * @param outputs the map outputs to serve
 * @param addresses of the device for listeners, the preferred one first
 * @param completionVector vector of the device's completion queues
 * @param identity creates this executor's identity from the listeners' addresses
 * @param onLost receives the reason when RDMA is lost, possibly more than once; any thread, which
 *     must not close the transport
 * @param nanoClock as {@link System#nanoTime}
 */
public record TransportEnvironment(
    Device device,
    PinnedBudget budget,
    MapOutputs outputs,
    List<NetworkAddress> addresses,
    int completionVector,
    Function<List<ListenerAddress>, Identity> identity,
    Consumer<String> onLost,
    ShuffleCounters counters,
    LongSupplier nanoClock) {}
