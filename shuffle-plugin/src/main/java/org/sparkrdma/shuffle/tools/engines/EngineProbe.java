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
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.HostAddresses;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.shuffle.device.DeviceTrials;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.Preflight;
import org.sparkrdma.shuffle.pinned.SparkMemory;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.pinned.WritePins;
import org.sparkrdma.shuffle.serve.FileProbe;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.transport.DeviceNeeds;
import org.sparkrdma.shuffle.transport.RdmaTransport;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Transport;

/**
 * Chooses engine, device and addresses as an executor does, opens the device, registers memory and
 * files, and closes all of it. Confined to the calling thread.
 */
public final class EngineProbe {
  private static final Logger LOG = LoggerFactory.getLogger(EngineProbe.class);

  private final ShuffleSettings settings;
  private final SparkSettings spark;
  private final InetAddress sparkHost;
  private final List<String> reasons = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private Map<Path, Optional<String>> directories = Map.of();

  /**
   * A probe that has not run.
   *
   * @param sparkHost where Spark's own block transfer listens
   */
  public EngineProbe(ShuffleSettings settings, SparkSettings spark, InetAddress sparkHost) {
    this.settings = settings;
    this.spark = spark;
    this.sparkHost = sparkHost;
  }

  /**
   * Runs once.
   *
   * @param files of this machine
   * @param localDirectories where files are registered as a test
   */
  public Probe run(SystemFiles files, List<Path> localDirectories) {
    Verbs.Choice engine = Verbs.choose(settings.engine(), settings.engineSettings());
    reasons.addAll(engine.reasons());
    Optional<DeviceChoice> chosen = Optional.empty();
    if (engine.engine() != null) {
      try (VerbsEngine open = engine.engine()) {
        // The choice, should no device start.
        chosen = Optional.of(OpenDevice.choose(open, settings, sparkHost, 0));
        return new DeviceTrials(
                open.devices(), settings.device(sparkHost, 0), HostAddresses.ofSystem())
            .run(
                choice -> probe(open, choice, files, localDirectories),
                (failed, reason, next) ->
                    failures.add(
                        failed.device().name() + " does not start: " + reason.getMessage()));
      } catch (VerbsException e) {
        reasons.add(e.getMessage());
      }
    }
    boolean hardware =
        chosen.filter(one -> one.device().transport() == Transport.LOOPBACK).isEmpty();
    PinnedLimit limit = limit(files, hardware);
    return new Probe(chosen, false, reasons, limit, directories);
  }

  private Probe probe(
      VerbsEngine engine, DeviceChoice choice, SystemFiles files, List<Path> localDirectories)
      throws VerbsException {
    DeviceInfo info = choice.device();
    PinnedLimit limit = limit(files, info.transport() != Transport.LOOPBACK);
    directories = tryDevice(engine, info, limit, files, localDirectories);
    reasons.addAll(failures);
    return new Probe(Optional.of(choice), true, reasons, limit, directories);
  }

  /**
   * Runs once, in an executor whose own start has shown whether it uses RDMA. Registers files only,
   * so that limits of memory leave the executor what it needs.
   *
   * @param number by which this executor chooses among equal devices
   * @param used whether the executor uses RDMA
   * @param startReasons why not, or why it does not use other engines
   */
  public Probe runInExecutor(
      int number,
      boolean used,
      List<String> startReasons,
      SystemFiles files,
      List<Path> localDirectories) {
    Verbs.Choice engine = Verbs.choose(settings.engine(), settings.engineSettings());
    Optional<DeviceChoice> device = Optional.empty();
    boolean hardware = true;
    if (engine.engine() != null) {
      try (VerbsEngine open = engine.engine()) {
        device = Optional.of(OpenDevice.choose(open, settings, sparkHost, number));
        DeviceInfo info = device.get().device();
        hardware = info.transport() != Transport.LOOPBACK;
        if (used) {
          try (Device opened = open.open(info)) {
            directories = registerFiles(opened, files, localDirectories);
          }
        }
      } catch (VerbsException e) {
        LOG.debug("Device not opened a second time", e);
      }
    }
    PinnedLimit limit = limit(files, hardware);
    return new Probe(device, used, startReasons, limit, directories);
  }

  /**
   * Opens the device, registers memory and files, and closes it.
   *
   * @return as {@link Probe#directories()}
   * @throws VerbsException when an executor could not use the device
   */
  private Map<Path, Optional<String>> tryDevice(
      VerbsEngine engine,
      DeviceInfo info,
      PinnedLimit limit,
      SystemFiles files,
      List<Path> localDirectories)
      throws VerbsException {
    DeviceNeeds.check(info, settings.trustedFabric());
    MachineMemory machine = MachineMemory.current();
    try (Device device = engine.open(info);
        PinnedBudget budget = new PinnedBudget(limit.bytes(), machine.pageBytes())) {
      new Preflight()
          .check(
              device,
              budget,
              limit,
              machine,
              RdmaTransport.needs(settings.transport(limit.bytes()), device, budget));
      return registerFiles(device, files, localDirectories);
    }
  }

  /**
   * Registers a file in each directory in which one can be written.
   *
   * @return as {@link Probe#directories()}
   */
  private Map<Path, Optional<String>> registerFiles(
      Device device, SystemFiles files, List<Path> localDirectories) throws VerbsException {
    Map<Path, Optional<String>> results = new HashMap<>();
    ServeSettings serve = settings.serve();
    WritePins pins = WritePins.of(files);
    if (serve.registersFiles(device)) {
      try (ProtectionDomain domain = device.allocateProtectionDomain()) {
        for (Path directory : localDirectories) {
          Optional<String> objection =
              serve.mayCopyInsteadOfPinning(device) ? pins.objection(directory) : Optional.empty();
          if (objection.isPresent()) {
            results.put(directory, objection);
          } else {
            tryIn(domain, directory, serve, device)
                .ifPresent(refusal -> results.put(directory, refusal));
          }
        }
      }
    }
    return results;
  }

  /**
   * Registers a file in one directory.
   *
   * @return empty when no file can be written there, which {@link WriteTrial} reports; else the
   *     reason why it is not registered, if any
   */
  private static Optional<Optional<String>> tryIn(
      ProtectionDomain domain, Path directory, ServeSettings serve, Device device) {
    try {
      FileProbe.tryIn(domain, directory, serve.fileAccess(device));
      return Optional.of(Optional.empty());
    } catch (VerbsException e) {
      return Optional.of(Optional.of(e.getMessage()));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * The memory that an executor with these settings may pin here, by the executor's own rules. It
   * is an estimate where the executor runs in another container, or with other executors beside it.
   */
  private PinnedLimit limit(SystemFiles files, boolean hardware) {
    UnaryOperator<String> setting = spark.values()::get;
    try {
      return limit(setting, files, hardware);
    } catch (IllegalArgumentException e) {
      // Spark refuses such a size or number itself.
      return limit(key -> null, files, hardware);
    }
  }

  private PinnedLimit limit(UnaryOperator<String> setting, SystemFiles files, boolean hardware) {
    MachineMemory machine =
        MachineMemory.under(
            files.root(),
            SparkMemory.heapBytes(setting),
            Runtime.getRuntime().availableProcessors());
    return PinnedLimit.of(settings.pinnedMaxBytes(), machine, SparkMemory.of(setting), hardware);
  }
}
