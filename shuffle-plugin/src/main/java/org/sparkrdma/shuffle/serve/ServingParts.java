// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.pinned.WritePins;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.wire.ChecksumKind;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;

/**
 * The parts that hold the state of a {@link BlockServer}. Used and closed with the server's lock.
 *
 * @param slots null when nothing is copied
 */
record ServingParts(
    CopySlots slots, ServedOutputs outputs, Leases leases, Locator locator, IdleMemory idle) {
  private static final Logger LOG = LoggerFactory.getLogger(ServingParts.class);

  /**
   * @param probeClock not the server's clock: devices cost real time
   * @param systemFiles of this machine; other ones in tests
   */
  static ServingParts create(
      ServerParameters server,
      List<DiskQueue> disks,
      StateLock state,
      LongSupplier probeClock,
      SystemFiles systemFiles) {
    ServeSettings settings = server.settings();
    Device device = server.device();
    ProtectionDomain domain = server.domain();
    PinnedBudget budget = server.budget();
    MapOutputs outputs = server.outputs();
    ShuffleCounters counters = server.counters();
    LongSupplier nanoClock = server.nanoClock();
    // Half of the device's limit: pools and other processes need regions as well.
    int maxWindows = Math.max(1, device.info().limits().maxMemoryRegions() / 2);
    Set<AccessFlag> access = settings.fileAccess(device);
    UnleasedWindows unleased = new UnleasedWindows(budget, counters, state);
    RegisteredFiles files =
        new RegisteredFiles(
            settings.windowBytes(),
            maxWindows,
            access,
            outputs,
            domain,
            unleased,
            budget,
            counters,
            state,
            nanoClock);
    List<Path> directories = new ArrayList<>(outputs.directories());
    List<Path> writtenAgain = List.of();
    if (settings.registersFiles(device)) {
      List<Path> copied = new ArrayList<>();
      if (settings.mayCopyInsteadOfPinning(device)) {
        WritePins pins = WritePins.of(systemFiles);
        copied.addAll(pins.objectionable(directories));
        directories.removeAll(copied);
        writtenAgain = pins.writtenAgain(directories);
      }
      copied.addAll(FileProbe.refusing(domain, directories, access));
      files.excludeDirectories(copied);
      directories.removeAll(copied);
    }
    CostProbe probe = new CostProbe(device, domain, budget, access, probeClock);
    if (settings.mode() == ServeSettings.Mode.ODP && !settings.pagesOnDemand(device)) {
      LOG.warn(
          "spark.shuffle.rdma.serve=odp is served as auto: device {} does not page on demand",
          device.info().name());
    }
    CopySlots slots =
        settings.mode() == ServeSettings.Mode.WINDOW || settings.slots() == 0
            ? null
            : new CopySlots(
                settings.slotBytes(),
                settings.slots(),
                device,
                domain,
                budget,
                files,
                unleased,
                state,
                nanoClock);
    ServedOutputs served =
        new ServedOutputs(
            outputs,
            unleased,
            counters,
            settings.indexCacheEntries(),
            settings.windowBytes(),
            state);
    Leases leases =
        new Leases(
            settings.lease(),
            files,
            state,
            counters,
            server.onLeaseExpired(),
            peer -> new PeerShare(settings, budget.limitBytes()),
            new SecureRandom().nextLong());
    ServingMode mode =
        ServingMode.of(
            settings, device, slots != null, () -> costs(probe, directories, device), writtenAgain);
    int checksumKind = checksumKind(outputs, settings);
    LoadLimits limits = LoadLimits.of(server.requestTimeout());
    LocateAnswers answers = new LocateAnswers(leases, checksumKind, limits, counters, nanoClock);
    LocateStart start =
        new LocateStart(
            leases,
            mode,
            files,
            slots,
            checksumKind,
            settings.computeSums(),
            answers,
            counters,
            state);
    Locator locator = new Locator(served, start, answers, limits, disks, nanoClock, state);
    return new ServingParts(
        slots,
        served,
        leases,
        locator,
        new IdleMemory(settings, budget, unleased, slots, counters));
  }

  /** Kind of the checksums in answers: the recorded one, else that of computed ones. */
  private static int checksumKind(MapOutputs outputs, ServeSettings settings) {
    int recorded = outputs.checksumKind();
    return settings.computeSums() && recorded == Located.NO_CHECKSUM
        ? ChecksumKind.CRC32C_KIND
        : recorded;
  }

  /** Costs measured in the first of the directories, where that is possible. */
  private static ServingCosts costs(CostProbe probe, List<Path> directories, Device device) {
    return directories.stream()
        .findFirst()
        .flatMap(probe::measure)
        .orElseGet(() -> ServingCosts.assumed(device.info().transport()));
  }

  /** Deregisters all memory, leased or not. */
  void close() {
    leases.close();
    outputs.close();
    if (slots != null) {
      slots.close();
    }
  }
}
