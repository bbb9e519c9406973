// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.ReceivePool;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.shuffle.wire.ProofKey;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * Objects shared by the agent's classes; all owned by {@link RdmaTransport}.
 *
 * @param device properties of the device
 * @param self this executor's own endpoint
 * @param secret of the application; empty without authentication
 * @param receive memory for READs
 * @param readPool READs that are used again
 * @param reads limit of the bytes of posted READs
 * @param control buffers of control messages
 * @param agent runs a command on the agent's thread soon; safe for any thread
 * @param owner the agent's thread
 * @param deviceLost receives the reason when the device cannot be used any more, possibly more than
 *     once
 * @param nanoClock as {@link System#nanoTime}
 * @param peerLog lines about failing connections
 */
record TransportContext(
    TransportSettings settings,
    DeviceInfo device,
    Endpoint self,
    byte[] secret,
    ProtectionDomain domain,
    CompletionQueues completions,
    ReceivePool receive,
    ReadPool readPool,
    ReadLimit reads,
    ControlBuffers control,
    BlockServer server,
    ShuffleCounters counters,
    Consumer<Runnable> agent,
    Owner owner,
    Consumer<String> deviceLost,
    LongSupplier nanoClock,
    PeerLog peerLog) {
  /** Key that creates and verifies proofs for {@code callee}. */
  byte[] proofKey(Endpoint callee) {
    return ProofKey.of(callee.token(), secret);
  }
}
