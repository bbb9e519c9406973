// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.HostAddresses;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.shuffle.device.DeviceTrials;
import org.sparkrdma.shuffle.device.PortNotReadyException;
import org.sparkrdma.shuffle.pinned.FileDescriptors;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.MemoryDirectories;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.SparkMemory;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.shuffle.wire.ProofKey;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Transport;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * Chooses engine and device and opens {@link RunningParts} on them. Each attempt uses devices and
 * addresses as they are then. Used by one thread at a time.
 */
class RuntimeStart {
  private static final Logger LOG = LoggerFactory.getLogger(RuntimeStart.class);

  /** See errno(3). */
  private static final int EMFILE = 24;

  /** At least as many as the initialisers of the JDK open at the same time. */
  private static final int DESCRIPTORS_OF_INITIALISERS = 8;

  private final SparkEnv env;
  private final ShuffleSettings settings;
  private final BiFunction<String, EngineSettings, Verbs.Choice> engines;
  private final RunningParts.TransportStart transports;
  private final List<String> warnings;
  private final List<String> reasons = new ArrayList<>();
  private final MemoryDirectories memoryDirectories = new MemoryDirectories();
  private final boolean forbidden;
  private boolean transientReason;
  private boolean byGid;

  /**
   * @param engines as {@link Verbs#choose}
   * @param warnings reasons from the settings why RDMA must not be used; the start then only
   *     collects further reasons, to report all at once
   */
  RuntimeStart(
      SparkEnv env,
      ShuffleSettings settings,
      BiFunction<String, EngineSettings, Verbs.Choice> engines,
      RunningParts.TransportStart transports,
      List<String> warnings) {
    this.env = env;
    this.settings = settings;
    this.engines = engines;
    this.transports = transports;
    this.warnings = List.copyOf(warnings);
    this.forbidden = !warnings.isEmpty();
  }

  /** Whether blocks are verified with their checksums. */
  boolean verifies() {
    return settings.verify();
  }

  /** Whether the settings forbid RDMA. */
  boolean forbidden() {
    return forbidden;
  }

  /** Reasons why the last {@link #run} returned nothing or rejected engines. */
  List<String> reasons() {
    return List.copyOf(reasons);
  }

  /**
   * Whether a later {@link #run} may succeed where the last one did not: it found no usable device,
   * but a port that may become active or get an address, or one that cannot be used by its GID but
   * may get an IP address, a call of a device failed as during its reset, or the system refused a
   * thread or memory.
   */
  boolean mayStartLater() {
    return transientReason;
  }

  /**
   * Never throws; empty when RDMA cannot be used. The caller closes the parts.
   *
   * @param outOfService receives the reason, at any later time, when the transport cannot be used
   *     any more; returns at once
   * @param profile resources of this executor's ResourceProfile, see {@link SparkMemory#of}; may
   *     wait for the driver
   */
  Optional<RunningParts> run(Consumer<String> outOfService, Supplier<Map<String, Long>> profile) {
    transientReason = false;
    byGid = false;
    reasons.clear();
    reasons.addAll(warnings);
    try {
      initialiseClasses();
      Verbs.Choice choice = engines.apply(settings.engine(), settings.engineSettings());
      reasons.addAll(choice.reasons());
      if (choice.engine() == null) {
        transientReason = choice.mayPass();
        return Optional.empty();
      }
      if (forbidden) {
        choice.engine().close();
        return Optional.empty();
      }
      return Optional.of(startOn(choice.engine(), outOfService, profile));
    } catch (VerbsException | IllegalArgumentException | ThreadShortageException e) {
      transientReason =
          e instanceof PortNotReadyException
              || e instanceof ThreadShortageException
              || (e instanceof VerbsException failure && failure.isTransient())
              || byGid;
      reasons.add(e.getMessage());
    } catch (LinkageError e) {
      // A class that another thread has initialised meanwhile may be usable later.
      transientReason = true;
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
   * code. So descriptors are tried first.
   */
  private static void initialiseClasses() throws VerbsException {
    OptionalLong free = FileDescriptors.free(new SystemFiles(Path.of("/")));
    if (free.isPresent() && free.getAsLong() < FileDescriptors.NEEDED) {
      throw tooFewDescriptors("free=" + free.getAsLong(), null);
    }
    List<FileInputStream> held = new ArrayList<>();
    try {
      while (held.size() < DESCRIPTORS_OF_INITIALISERS) {
        held.add(new FileInputStream("/dev/null"));
      }
    } catch (IOException e) {
      throw tooFewDescriptors(e.getMessage(), e);
    } finally {
      held.forEach(RuntimeStart::close);
    }
    new SecureRandom().nextBytes(ProofKey.of(new byte[1], new byte[1]));
  }

  /** Transient by its errno. */
  private static VerbsException tooFewDescriptors(String detail, IOException cause) {
    return new VerbsException(
        "open",
        EMFILE,
        "too few file descriptors are free, raise the limit of executors (ulimit -n): needed="
            + FileDescriptors.NEEDED
            + " "
            + detail,
        cause);
  }

  private static void close(FileInputStream stream) {
    try {
      stream.close();
    } catch (IOException e) {
      LOG.debug("Cannot close /dev/null", e);
    }
  }

  /** Takes over the engine; closes everything that it opened when it fails. */
  private RunningParts startOn(
      VerbsEngine engine, Consumer<String> outOfService, Supplier<Map<String, Long>> profile)
      throws VerbsException {
    boolean started = false;
    try {
      RunningParts parts =
          new DeviceTrials(engine.devices(), selector(), HostAddresses.ofSystem())
              .run(choice -> startOn(engine, choice, outOfService, profile), RuntimeStart::warn);
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
        "An RDMA device does not start, another one of its subnet is tried: device={} next={}: {}",
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

  private RunningParts startOn(
      VerbsEngine engine,
      DeviceChoice choice,
      Consumer<String> outOfService,
      Supplier<Map<String, Long>> profile)
      throws VerbsException {
    byGid = choice.addresses().get(0).isGid();
    MachineMemory machine = MachineMemory.current();
    PinnedLimit limit =
        PinnedLimit.of(
            settings.pinnedMaxBytes(),
            machine,
            SparkMemory.of(key -> env.conf().get(key, null), profile.get()),
            choice.device().transport() != Transport.LOOPBACK);
    if (settings.pinnedMaxBytes().isEmpty()) {
      memoryDirectories.check(
          new SystemFiles(Path.of("/")), machine, limit, RunningParts.localDirectories(env));
    }
    return RunningParts.open(engine, choice, machine, limit, transports, outOfService);
  }
}
