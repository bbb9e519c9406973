// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.Preflight;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.pinned.WritePins;
import org.sparkrdma.shuffle.serve.FileProbe;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.transport.DeviceNeeds;
import org.sparkrdma.shuffle.transport.RdmaTransport;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Transport;

/**
 * Opens a device as an executor does, registers memory and files, and closes all of it. Stateless.
 */
final class DeviceTrial {
  private final ShuffleSettings settings;
  private final SparkSettings spark;

  DeviceTrial(ShuffleSettings settings, SparkSettings spark) {
    this.settings = settings;
    this.spark = spark;
  }

  /** Memory that an executor may pin for this device. */
  PinnedLimit limit(DeviceInfo info, SystemFiles files) {
    return ExecutorMemory.limit(settings, spark, files, info.transport() != Transport.LOOPBACK);
  }

  /**
   * Runs once.
   *
   * @param limit as {@link #limit} has it for this device
   * @return as {@link Probe#directories()}
   * @throws VerbsException when an executor could not use the device
   */
  Map<Path, Optional<String>> run(
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
  Map<Path, Optional<String>> registerFiles(
      Device device, SystemFiles files, List<Path> localDirectories) throws VerbsException {
    Map<Path, Optional<String>> directories = new HashMap<>();
    ServeSettings serve = settings.serve();
    WritePins pins = WritePins.of(files);
    if (serve.registersFiles(device)) {
      try (ProtectionDomain domain = device.allocateProtectionDomain()) {
        for (Path directory : localDirectories) {
          Optional<String> objection =
              serve.mayCopyInsteadOfPinning(device) ? pins.objection(directory) : Optional.empty();
          if (objection.isPresent()) {
            directories.put(directory, objection);
          } else {
            tryIn(domain, directory, serve, device)
                .ifPresent(refusal -> directories.put(directory, refusal));
          }
        }
      }
    }
    return directories;
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
}
