// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.shuffle.device.DeviceTrials;
import org.sparkrdma.shuffle.device.PortNotReadyException;
import org.sparkrdma.shuffle.pinned.FileDescriptors;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.SparkMemory;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.shuffle.wire.Hmac;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * Chooses engine and device and opens {@link OpenRdma} on them. Each attempt uses devices and
 * addresses as they are then. Used by one thread at a time.
 */
class RuntimeStart {
  private static final Logger LOG = LoggerFactory.getLogger(RuntimeStart.class);

  /** See errno(3). */
  private static final int EMFILE = 24;

  private final SparkEnv env;
  private final ShuffleSettings settings;
  private final BiFunction<String, EngineSettings, Verbs.Choice> engines;
  private final OpenRdma.TransportStart transports;
  private final List<String> warnings;
  private final List<String> reasons = new ArrayList<>();
  private boolean transientReason;

  /**
   * @param engines as {@link Verbs#choose}
   * @param warnings reasons from the settings why RDMA must not be used; empty when it may be used
   */
  RuntimeStart(
      SparkEnv env,
      ShuffleSettings settings,
      BiFunction<String, EngineSettings, Verbs.Choice> engines,
      OpenRdma.TransportStart transports,
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
   * Never throws; empty when RDMA cannot be used. The caller closes the parts.
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
      // A thread of the engine. Of the heap, it is fatal.
      transientReason = true;
      reasons.add(ThreadShortageException.of("of the engine", e).getMessage());
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
      OpenRdma parts =
          DeviceTrials.run(
              DeviceChoice.all(engine.devices(), selector(), NetworkAddress::ofHost),
              choice -> startOn(engine, choice, onLost),
              RuntimeStart::warn);
      started = true;
      return parts;
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
    return OpenRdma.open(engine, choice, machine, limit, transports, onLost);
  }
}
