// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.DeviceChoice;
import org.sparkrdma.shuffle.address.DeviceTrials;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.address.PortNotReadyException;
import org.sparkrdma.shuffle.broadcast.Broadcasts;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import org.sparkrdma.shuffle.pinned.FileDescriptors;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.Preflight;
import org.sparkrdma.shuffle.pinned.SparkMemory;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.HeapShortage;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.shuffle.transport.Identity;
import org.sparkrdma.shuffle.transport.RdmaTransport;
import org.sparkrdma.shuffle.transport.StartedTransport;
import org.sparkrdma.shuffle.transport.TransportEnvironment;
import org.sparkrdma.shuffle.wire.Hmac;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * Chooses engine and device and opens {@link OpenRdma} on them. Each attempt uses devices and
 * addresses as they are then. Used by one thread at a time.
 */
class RdmaStart {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaStart.class);

  /** Starts the transport of an executor: {@link #transports}, or a double in tests. */
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

  /** See errno(3). */
  private static final int EMFILE = 24;

  private final SparkEnv env;
  private final ShuffleSettings settings;
  private final BiFunction<String, EngineSettings, Verbs.Choice> engines;
  private final TransportStart transports;
  private final List<String> warnings;
  private final List<String> reasons = new ArrayList<>();
  private boolean transientReason;

  /**
   * @param engines as {@link Verbs#choose}
   * @param warnings reasons from the settings why RDMA must not be used; empty when it may be used
   */
  RdmaStart(
      SparkEnv env,
      ShuffleSettings settings,
      BiFunction<String, EngineSettings, Verbs.Choice> engines,
      TransportStart transports,
      List<String> warnings) {
    this.env = env;
    this.settings = settings;
    this.engines = engines;
    this.transports = transports;
    this.warnings = List.copyOf(warnings);
  }

  /** Whether blocks are verified with their checksums. */
  boolean verifies() {
    return settings.verify();
  }

  /** Reasons why the last {@link #run} returned nothing or rejected engines. */
  List<String> reasons() {
    return List.copyOf(reasons);
  }

  /**
   * Whether a later {@link #run} may succeed where the last one did not: it found no usable device,
   * but a port that may become active or get an address, a call of a device failed as during its
   * reset, or the system refused a thread, memory or file descriptors.
   */
  boolean mayStartLater() {
    return transientReason;
  }

  /**
   * Never throws; empty when RDMA cannot be used. The caller closes what is open.
   *
   * @param onLost receives the reason, at any later time, when the transport cannot be used any
   *     more; returns at once
   */
  Optional<OpenRdma> run(Consumer<String> onLost) {
    transientReason = false;
    reasons.clear();
    if (!warnings.isEmpty()) {
      reasons.addAll(warnings);
      return Optional.empty();
    }
    try {
      initialiseClasses();
      Verbs.Choice choice =
          engines.apply(settings.engine(), settings.engineSettings().inProcess(env.executorId()));
      reasons.addAll(choice.reasons());
      if (choice.engine() == null) {
        transientReason = choice.mayPass();
        return Optional.empty();
      }
      return Optional.of(startOn(choice.engine(), onLost));
    } catch (VerbsException | IllegalArgumentException | ThreadShortageException e) {
      transientReason =
          e instanceof PortNotReadyException
              || e instanceof ThreadShortageException
              || (e instanceof VerbsException failure && failure.isTransient());
      reasons.add(e.getMessage());
    } catch (OutOfMemoryError e) {
      if (HeapShortage.isFatal(e)) {
        throw e;
      }
      transientReason = true;
      reasons.add("no thread or no memory beside the heap: " + e);
    } catch (LinkageError e) {
      LOG.debug("A class cannot be initialised", e);
      reasons.add("a class cannot be initialised: " + e);
    } catch (RuntimeException e) {
      LOG.warn("RDMA did not start in this executor; its shuffle reads use TCP", e);
      reasons.add(e.toString());
    }
    return Optional.empty();
  }

  /**
   * Initialises the classes that the agent and devices use first while they connect. A class whose
   * initialiser fails, as for lack of a file descriptor, stays unusable in this JVM, also for user
   * code. So there must be descriptors.
   */
  private static void initialiseClasses() throws VerbsException {
    long free = FileDescriptors.free(new SystemFiles(Path.of("/"))).orElse(FileDescriptors.NEEDED);
    if (free < FileDescriptors.NEEDED) {
      // Transient by its errno.
      throw new VerbsException(
          "open",
          EMFILE,
          "too few file descriptors are free, raise the limit of executors (ulimit -n): needed="
              + FileDescriptors.NEEDED
              + " free="
              + free,
          null);
    }
    new SecureRandom().nextBytes(Hmac.proofKey(new byte[1], new byte[1]));
  }

  /** Takes over the engine; closes everything that it opened when it fails. */
  private OpenRdma startOn(VerbsEngine engine, Consumer<String> onLost) throws VerbsException {
    boolean started = false;
    try {
      OpenRdma open =
          DeviceTrials.run(
              DeviceChoice.all(engine.devices(), selector(), NetworkAddress::ofHost),
              choice -> startOn(engine, choice, onLost),
              RdmaStart::warn);
      started = true;
      return open;
    } finally {
      if (!started) {
        engine.close();
      }
    }
  }

  private static void warn(DeviceChoice failed, VerbsException reason, DeviceChoice next) {
    LOG.warn(
        "An RDMA device does not start; trying another one in its subnet: device={} next={}: {}",
        failed.device().name(),
        next.device().name(),
        reason.getMessage());
  }

  private DeviceSelector selector() throws VerbsException {
    String host = env.blockManager().blockManagerId().host();
    try {
      // Executors are numbered in order of arrival, so neighbours use different devices.
      return settings.device(InetAddress.getByName(host), DeviceChoice.numberOf(env.executorId()));
    } catch (UnknownHostException e) {
      throw new VerbsException("listen", "Spark's own host has no address: host=" + host, e);
    }
  }

  /** Closes the device when it fails. */
  private OpenRdma startOn(VerbsEngine engine, DeviceChoice choice, Consumer<String> onLost)
      throws VerbsException {
    MachineMemory machine = MachineMemory.current();
    PinnedLimit limit =
        PinnedLimit.of(
            settings.pinnedMaxBytes(),
            machine,
            // With what the executor's ResourceProfile sets instead of the application's settings.
            SparkMemory.of(key -> env.conf().get(key, null)),
            engine.freeMemoryBytes());
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
  static TransportStart transports(
      SparkEnv env,
      IndexShuffleBlockResolver resolver,
      ShuffleSettings settings,
      ShuffleCounters counters,
      MissingLinks missing,
      Function<SparkMapOutputs, MapOutputs> served) {
    return open -> {
      TransportSettings transport = settings.transport();
      Preflight.check(
          open.device(),
          open.budget(),
          open.limit(),
          open.machine(),
          MemoryShares.of(
              transport, new DeviceFitness(open.device().info()), open.budget().limitBytes()));
      SecureRandom random = new SecureRandom();
      byte[] token = new byte[Endpoint.TOKEN_BYTES];
      random.nextBytes(token);
      long incarnation = random.nextLong();
      String engine = open.device().info().engine();
      String host = env.blockManager().blockManagerId().host();
      List<Path> directories =
          Stream.of(env.blockManager().diskBlockManager().localDirsString()).map(Path::of).toList();
      return RdmaTransport.open(
          transport,
          settings.serve(),
          new TransportEnvironment(
              open.device(),
              open.budget(),
              served.apply(Broadcasts.outputs(env, resolver, directories, settings, missing)),
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
              System::nanoTime));
    };
  }

  private static byte[] secret(SparkEnv env) {
    return env.securityManager().isAuthenticationEnabled()
        ? env.securityManager().getSecretKey().getBytes(StandardCharsets.UTF_8)
        : new byte[0];
  }
}
