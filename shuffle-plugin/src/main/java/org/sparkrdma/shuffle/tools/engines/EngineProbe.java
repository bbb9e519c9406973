// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.DeviceChoice;
import org.sparkrdma.shuffle.address.DeviceTrials;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.Preflight;
import org.sparkrdma.shuffle.pinned.SparkMemory;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.pinned.WritePins;
import org.sparkrdma.shuffle.serve.FileProbe;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * Chooses engine, device and addresses as an executor does, opens the device, registers memory and
 * files, and closes all of it. Confined to the calling thread.
 */
public final class EngineProbe {
  private static final Logger LOG = LoggerFactory.getLogger(EngineProbe.class);

  private final ShuffleSettings settings;
  private final SparkSettings spark;
  private final InetAddress sparkHost;
  private final SystemFiles files;
  private final List<Path> localDirectories;

  private final Supplier<Verbs.Choice> engines;

  /** Value of {@link Probe#details()}. */
  private final Map<Path, String> details = new HashMap<>();

  /** Value of {@link VerbsEngine#freeMemoryBytes()} of the engine that is probed. */
  private OptionalLong freeMemory = OptionalLong.empty();

  /**
   * A probe that has not run.
   *
   * @param sparkHost where Spark's own block transfer listens
   * @param files of this machine
   * @param localDirectories where files are registered as a test
   */
  public EngineProbe(
      ShuffleSettings settings,
      SparkSettings spark,
      InetAddress sparkHost,
      SystemFiles files,
      List<Path> localDirectories) {
    this(
        settings,
        spark,
        sparkHost,
        files,
        localDirectories,
        () -> Verbs.choose(settings.engine(), settings.engineSettings()));
  }

  /** The same with the choice of an engine. */
  EngineProbe(
      ShuffleSettings settings,
      SparkSettings spark,
      InetAddress sparkHost,
      SystemFiles files,
      List<Path> localDirectories,
      Supplier<Verbs.Choice> engines) {
    this.settings = settings;
    this.spark = spark;
    this.sparkHost = sparkHost;
    this.files = files;
    this.localDirectories = localDirectories;
    this.engines = engines;
  }

  /** Runs once. */
  public Probe run() {
    Verbs.Choice engine = engines.get();
    List<String> reasons = new ArrayList<>(engine.reasons());
    Optional<DeviceChoice> chosen = Optional.empty();
    if (engine.engine() != null) {
      try (VerbsEngine open = engine.engine()) {
        List<DeviceChoice> all = ProbedDevice.choices(open, settings, sparkHost, 0);
        // The choice, should no device start.
        chosen = Optional.of(all.get(0));
        freeMemory = open.freeMemoryBytes();
        return DeviceTrials.run(
            all,
            choice -> probe(Optional.of(choice), true, reasons, tryDevice(open, choice.device())),
            (failed, reason, next) ->
                reasons.add(failed.device().name() + " does not start: " + reason.getMessage()));
      } catch (VerbsException e) {
        reasons.add(e.getMessage());
      }
    }
    return probe(chosen, false, reasons, Map.of());
  }

  /**
   * Runs once, in an executor whose own start has shown whether it uses RDMA. Registers files only,
   * so that limits of memory leave the executor what it needs.
   *
   * @param number by which this executor chooses among equal devices
   * @param used whether the executor uses RDMA
   * @param startReasons why not, or why it does not use other engines
   */
  public Probe runInExecutor(int number, boolean used, List<String> startReasons) {
    Verbs.Choice engine = engines.get();
    Optional<DeviceChoice> chosen = Optional.empty();
    Map<Path, Optional<String>> directories = Map.of();
    if (engine.engine() != null) {
      try (VerbsEngine open = engine.engine()) {
        chosen = Optional.of(ProbedDevice.choices(open, settings, sparkHost, number).get(0));
        freeMemory = open.freeMemoryBytes();
        if (used) {
          try (Device device = open.open(chosen.get().device())) {
            directories = registerFiles(device, false);
          }
        }
      } catch (VerbsException e) {
        LOG.debug("Device not opened a second time", e);
      }
    }
    return probe(chosen, used, startReasons, directories);
  }

  private Probe probe(
      Optional<DeviceChoice> chosen,
      boolean usable,
      List<String> reasons,
      Map<Path, Optional<String>> directories) {
    return new Probe(chosen, usable, reasons, limit(), directories, details);
  }

  /**
   * Opens the device, registers memory and files, and closes it.
   *
   * @return as {@link Probe#directories()}
   * @throws VerbsException when an executor could not use the device
   */
  private Map<Path, Optional<String>> tryDevice(VerbsEngine engine, DeviceInfo info)
      throws VerbsException {
    DeviceFitness fitness = new DeviceFitness(info);
    fitness.require(settings.trustedFabric());
    PinnedLimit limit = limit();
    MachineMemory machine = MachineMemory.current();
    try (Device device = engine.open(info);
        PinnedBudget budget = new PinnedBudget(limit.bytes(), machine.pageBytes())) {
      MemoryShares shares = MemoryShares.of(settings.transport(), fitness, budget.limitBytes());
      Preflight.check(device, budget, limit, machine, shares);
      shares.require(settings.serve());
      return registerFiles(device, true);
    }
  }

  /**
   * Registers a file in each directory in which one can be written.
   *
   * @param measured whether its costs are measured, which registers more; an executor has its own
   * @return as {@link Probe#directories()}
   */
  private Map<Path, Optional<String>> registerFiles(Device device, boolean measured)
      throws VerbsException {
    Map<Path, Optional<String>> results = new HashMap<>();
    ServeSettings serve = settings.serve();
    DeviceFitness fitness = new DeviceFitness(device.info());
    if (!fitness.registersFiles(serve)) {
      return results;
    }
    try (ProtectionDomain domain = device.allocateProtectionDomain()) {
      WritePins pins = WritePins.of(files, domain);
      for (Path directory : localDirectories) {
        Optional<String> refusal =
            fitness.mayCopyInsteadOfPinning(serve) ? pins.objection(directory) : Optional.empty();
        try {
          if (refusal.isEmpty()) {
            FileProbe.tryIn(domain, directory, fitness.fileAccess(serve));
            List<String> known = new ArrayList<>();
            pins.permission(directory).ifPresent(known::add);
            if (measured) {
              FileProbe.price(domain, System::nanoTime, directory, fitness.fileAccess(serve))
                  .ifPresent(price -> known.add(price.toString()));
            }
            details.put(directory, String.join("; ", known));
          }
          results.put(directory, refusal);
        } catch (VerbsException e) {
          results.put(directory, Optional.of(e.getMessage()));
        } catch (IOException e) {
          LOG.debug("No file can be written in {}", directory, e);
        }
      }
    }
    return results;
  }

  /**
   * The memory that an executor with these settings may pin here, by the executor's own rules. It
   * is an estimate where the executor runs in another container, or with other executors beside it.
   */
  private PinnedLimit limit() {
    try {
      return limit(spark.values()::get);
    } catch (IllegalArgumentException e) {
      // Spark refuses such a size or number itself.
      return limit(key -> null);
    }
  }

  private PinnedLimit limit(UnaryOperator<String> setting) {
    MachineMemory machine =
        MachineMemory.under(
            files.root(),
            SparkMemory.heapBytes(setting),
            Runtime.getRuntime().availableProcessors());
    return PinnedLimit.of(settings.pinnedMaxBytes(), machine, SparkMemory.of(setting), freeMemory);
  }
}
