// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.broadcast.Broadcasts;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.Preflight;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.transport.Identity;
import org.sparkrdma.shuffle.transport.MemoryPlan;
import org.sparkrdma.shuffle.transport.RdmaTransport;
import org.sparkrdma.shuffle.transport.StartedTransport;
import org.sparkrdma.shuffle.transport.TransportEnvironment;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;

/**
 * Everything that one start of RDMA opened: engine, device, account of pinned bytes and transport,
 * closed in the order that verbs require; also the executor's identity. Opened by the runtime's
 * thread; the runtime closes it.
 *
 * @param description of device, engine, addresses and limit of pinned memory, for the log
 */
record OpenRdma(
    StartedTransport transport,
    PinnedBudget budget,
    Device device,
    VerbsEngine engine,
    String description) {
  private static final Logger LOG = LoggerFactory.getLogger(OpenRdma.class);

  /** Starts the transport of an executor: {@link #rdmaTransports}, or a double in tests. */
  @FunctionalInterface
  interface TransportStart {
    /**
     * Starts serving. Called by the runtime's thread, so it may block.
     *
     * @return closed before the device
     * @throws VerbsException when the device refuses; everything allocated so far is then released
     */
    StartedTransport start(DeviceStart open) throws VerbsException;
  }

  /**
   * An open device, for the start of its transport.
   *
   * @param choice has the addresses where peers connect
   * @param machine memory limits of this process
   * @param limit of the budget, with its derivation
   * @param budget the one account of pinned bytes
   * @param onLost called with the reason when the transport fails; returns at once
   */
  record DeviceStart(
      Device device,
      DeviceChoice choice,
      MachineMemory machine,
      PinnedLimit limit,
      PinnedBudget budget,
      Consumer<String> onLost) {}

  /**
   * Opens a device and starts a transport on it.
   *
   * @param engine closed with the parts, but not when this fails
   * @param onLost receives the reason, at any later time, when the transport cannot be used any
   *     more; returns at once
   * @throws VerbsException when the device refuses; it is then closed
   */
  static OpenRdma open(
      VerbsEngine engine,
      DeviceChoice choice,
      MachineMemory machine,
      PinnedLimit limit,
      TransportStart transports,
      Consumer<String> onLost)
      throws VerbsException {
    Device device = engine.open(choice.device());
    PinnedBudget budget = new PinnedBudget(limit.bytes(), machine.pageBytes());
    StartedTransport transport = null;
    try {
      transport = transports.start(new DeviceStart(device, choice, machine, limit, budget, onLost));
    } finally {
      if (transport == null) {
        device.close();
      }
    }
    String description =
        String.format(
            Locale.ROOT,
            "device %s port %d of engine %s at %s (%s), may pin %d MiB: %s",
            choice.device().name(),
            choice.port(),
            engine.name(),
            transport.endpoint().addresses(),
            choice.reason(),
            limit.bytes() >> 20,
            limit.derivation());
    return new OpenRdma(transport, budget, device, engine, description);
  }

  /**
   * The start of real transports: registers memory as a test, then opens an RdmaTransport.
   *
   * @param served adds map outputs to those of this executor
   */
  static TransportStart rdmaTransports(
      SparkEnv env,
      IndexShuffleBlockResolver resolver,
      ShuffleSettings settings,
      ShuffleCounters counters,
      MissingLinks missing,
      Function<SparkMapOutputs, MapOutputs> served) {
    return open -> {
      TransportSettings limited = settings.transport(open.limit().bytes());
      Preflight.check(
          open.device(),
          open.budget(),
          open.limit(),
          open.machine(),
          new MemoryPlan(limited, open.budget().limitBytes()).needs(open.device()));
      return RdmaTransport.open(
          limited,
          settings.serve(),
          environment(env, resolver, settings, counters, missing, served, open));
    };
  }

  private static TransportEnvironment environment(
      SparkEnv env,
      IndexShuffleBlockResolver resolver,
      ShuffleSettings settings,
      ShuffleCounters counters,
      MissingLinks missing,
      Function<SparkMapOutputs, MapOutputs> served,
      DeviceStart open) {
    SecureRandom random = new SecureRandom();
    byte[] token = new byte[Endpoint.TOKEN_BYTES];
    random.nextBytes(token);
    long incarnation = random.nextLong();
    String engine = open.device().info().engine();
    String host = env.blockManager().blockManagerId().host();
    return new TransportEnvironment(
        open.device(),
        open.budget(),
        served.apply(
            Broadcasts.outputs(env, resolver, localDirectories(env), settings, missing)),
        open.choice().addresses(),
        DeviceChoice.completionVector(
            DeviceChoice.numberOf(env.executorId()),
            ProcessHandle.current().pid(),
            open.device().info().limits().completionVectors()),
        addresses ->
            new Identity(
                new Endpoint(
                    env.executorId(),
                    host,
                    addresses,
                    engine,
                    Messages.PROTOCOL,
                    incarnation,
                    token),
                secret(env)),
        open.onLost(),
        counters,
        System::nanoTime);
  }

  private static byte[] secret(SparkEnv env) {
    return env.securityManager().isAuthenticationEnabled()
        ? env.securityManager().getSecretKey().getBytes(StandardCharsets.UTF_8)
        : new byte[0];
  }

  static List<Path> localDirectories(SparkEnv env) {
    return Stream.of(env.blockManager().diskBlockManager().localDirsString())
        .map(Path::of)
        .toList();
  }

  /**
   * Closes all parts, or goes on with a close that has failed. When the transport does not close, a
   * thread may still use the device, so the device stays open. Tasks may still read blocks that
   * they have received: their memory stays readable, but is no longer registered.
   *
   * @return whether the device is no longer used
   */
  boolean close() {
    if (!tryClose("transport", transport)) {
      return false;
    }
    LOG.info("RDMA is closed; tasks still hold {} bytes", budget.pinnedBytes());
    return tryClose("device", device) && tryClose("engine", engine);
  }

  private static boolean tryClose(String name, AutoCloseable part) {
    try {
      part.close();
      return true;
    } catch (Exception e) {
      LOG.warn("Cannot close RDMA part={}; RDMA stays off until it is closed", name, e);
      return false;
    }
  }
}
