// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.HostAddresses;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.shuffle.device.DeviceTrials;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.Device;
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
  private final DeviceTrial trial;
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
    trial = new DeviceTrial(settings, spark);
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
    PinnedLimit limit = ExecutorMemory.limit(settings, spark, files, hardware);
    return new Probe(chosen, false, reasons, limit, directories);
  }

  private Probe probe(
      VerbsEngine engine, DeviceChoice choice, SystemFiles files, List<Path> localDirectories)
      throws VerbsException {
    DeviceInfo info = choice.device();
    PinnedLimit limit = trial.limit(info, files);
    directories = trial.run(engine, info, limit, files, localDirectories);
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
            directories = trial.registerFiles(opened, files, localDirectories);
          }
        }
      } catch (VerbsException e) {
        LOG.debug("Device not opened a second time", e);
      }
    }
    PinnedLimit limit = ExecutorMemory.limit(settings, spark, files, hardware);
    return new Probe(device, used, startReasons, limit, directories);
  }
}
