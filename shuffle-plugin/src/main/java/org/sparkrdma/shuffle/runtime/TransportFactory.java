// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.device.CompletionVector;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.Preflight;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.spark.ShuffleTransportConf;
import org.sparkrdma.shuffle.transport.RdmaTransport;
import org.sparkrdma.shuffle.transport.TransportEnvironment;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;

/** Starts the transport of an executor: {@link #startRdma}, or a double in tests. */
@FunctionalInterface
interface TransportFactory {
  /**
   * Starts serving. Called on the runtime's start thread, so it may block.
   *
   * @return closed by the runtime, before the budget and the device
   * @throws VerbsException when the device refuses; everything allocated so far is then released
   */
  RunningParts.Transport start(Parts parts) throws VerbsException;

  /**
   * Parts of a transport, owned by the runtime.
   *
   * @param env of this executor
   * @param resolver finds map outputs
   * @param settings of the plug-in
   * @param limit of the budget, with its derivation
   * @param machine memory limits of this process
   * @param budget the one account of pinned bytes
   * @param device open
   * @param addresses of the device where peers connect, the preferred one first
   * @param outOfService called with the reason when the transport fails; returns at once
   * @param counters of this executor
   */
  record Parts(
      SparkEnv env,
      IndexShuffleBlockResolver resolver,
      ShuffleSettings settings,
      PinnedLimit limit,
      MachineMemory machine,
      PinnedBudget budget,
      Device device,
      List<NetworkAddress> addresses,
      Consumer<String> outOfService,
      ShuffleCounters counters) {}

  /** The real transport: registers memory as a test, then opens an {@link RdmaTransport}. */
  static RunningParts.Transport startRdma(Parts parts) throws VerbsException {
    TransportSettings settings = parts.settings().transport(parts.limit().bytes());
    new Preflight()
        .check(
            parts.device(),
            parts.budget(),
            parts.limit(),
            parts.machine(),
            RdmaTransport.needs(settings, parts.device(), parts.budget()));
    SparkEnv env = parts.env();
    SecureRandom random = new SecureRandom();
    byte[] token = new byte[Endpoint.TOKEN_BYTES];
    random.nextBytes(token);
    long incarnation = random.nextLong();
    String engine = parts.device().info().engine();
    RdmaTransport transport =
        RdmaTransport.open(
            settings,
            parts.settings().serve(),
            new TransportEnvironment(
                parts.device(),
                parts.budget(),
                new SparkMapOutputs(parts.resolver(), localDirectories(env), env.conf()),
                ShuffleTransportConf.of(env.conf()),
                parts.addresses(),
                parts.settings().listenPort(),
                CompletionVector.of(
                    DeviceChoice.numberOf(env.executorId()),
                    ProcessHandle.current().pid(),
                    parts.device().info().limits().completionVectors()),
                addresses ->
                    new Endpoint(
                        env.executorId(), addresses, engine, Hello.PROTOCOL, incarnation, token),
                secret(env),
                parts.settings().trustedFabric(),
                parts.outOfService(),
                parts.counters(),
                System::nanoTime));
    return new RunningParts.Transport(
        transport,
        transport.endpoint(),
        shuffleId -> transport.unregisterShuffle(shuffleId, () -> {}),
        transport::close);
  }

  private static byte[] secret(SparkEnv env) {
    return env.securityManager().isAuthenticationEnabled()
        ? env.securityManager().getSecretKey().getBytes(StandardCharsets.UTF_8)
        : new byte[0];
  }

  private static List<Path> localDirectories(SparkEnv env) {
    return Stream.of(env.blockManager().diskBlockManager().localDirsString())
        .map(Path::of)
        .toList();
  }
}
