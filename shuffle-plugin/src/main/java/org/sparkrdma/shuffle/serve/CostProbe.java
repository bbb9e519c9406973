// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;

/**
 * Measures, at the start of a server, what a window and a copy cost on its device: a file that was
 * just written is registered, deregistered and copied, in turn, in two lengths. The lower quartiles
 * of all rounds but the first count, since other load only adds time. Confined to the thread that
 * starts the server; used once.
 */
final class CostProbe {
  private static final Logger LOG = LoggerFactory.getLogger(CostProbe.class);

  /** Time for all rounds but the first; the round that exceeds it is completed. */
  static final long LIMIT_NS = 20_000_000;

  /** Minimum number of rounds; with fewer the costs are assumed. */
  static final int MIN_ROUNDS = 3;

  private static final int MAX_ROUNDS = 32;
  private static final int SMALL_BYTES = 64 << 10;
  private static final int LARGE_BYTES = 1 << 20;

  private final Device device;
  private final PinnedBudget budget;
  private final FileCosts costs;
  private final LongSupplier nanoClock;

  /**
   * @param access of windows
   * @param nanoClock of real time, as {@link System#nanoTime}
   */
  CostProbe(
      Device device,
      ProtectionDomain domain,
      PinnedBudget budget,
      Set<AccessFlag> access,
      LongSupplier nanoClock) {
    this.device = device;
    this.budget = budget;
    this.costs = new FileCosts(domain, access, nanoClock);
    this.nanoClock = nanoClock;
  }

  /** The costs of one round. */
  private record Round(
      long registerSmallNs, long registerLargeNs, long copySmallNs, long copyLargeNs) {}

  /**
   * Measures on a file in the directory.
   *
   * @return empty when there is no room, the file cannot be written or registered, or the device is
   *     too slow for the time there is
   */
  Optional<ServingCosts> measure(Path directory) {
    Optional<PinnedBudget.Grant> grant = budget.tryGrant(LARGE_BYTES);
    if (grant.isEmpty()) {
      return Optional.empty();
    }
    try (HostMemory memory = device.allocate(LARGE_BYTES);
        ProbeFile file = ProbeFile.create(directory, LARGE_BYTES)) {
      return quartiles(rounds(file.path(), memory.slice(0, LARGE_BYTES)));
    } catch (IOException | VerbsException | RuntimeException e) {
      // An optional step: its failure must not turn RDMA off.
      LOG.debug("Costs of serving are not measured: directory={}", directory, e);
      return Optional.empty();
    } finally {
      grant.get().close();
    }
  }

  private List<Round> rounds(Path file, ByteBuffer target) throws IOException, VerbsException {
    List<Round> rounds = new ArrayList<>();
    rounds.add(round(file, target));
    // The first round loads classes; without its time a cold JVM would never measure.
    long startNs = nanoClock.getAsLong();
    while (rounds.size() < MAX_ROUNDS && nanoClock.getAsLong() - startNs < LIMIT_NS) {
      rounds.add(round(file, target));
    }
    return rounds;
  }

  private Round round(Path file, ByteBuffer target) throws IOException, VerbsException {
    return new Round(
        costs.registerNs(file, 0, SMALL_BYTES),
        costs.registerNs(file, 0, LARGE_BYTES),
        costs.copyNs(file, 0, target.clear().limit(SMALL_BYTES)),
        costs.copyNs(file, 0, target.clear().limit(LARGE_BYTES)));
  }

  private Optional<ServingCosts> quartiles(List<Round> rounds) {
    if (rounds.size() <= MIN_ROUNDS) {
      LOG.debug("Costs of serving are not measured: rounds={} are too few", rounds.size());
      return Optional.empty();
    }
    Round first = rounds.get(0);
    List<Round> warm = rounds.subList(1, rounds.size());
    ServingCosts measured =
        ServingCosts.of(
                SMALL_BYTES,
                LARGE_BYTES,
                lowerQuartile(warm.stream().mapToLong(Round::registerSmallNs).toArray()),
                lowerQuartile(warm.stream().mapToLong(Round::registerLargeNs).toArray()),
                lowerQuartile(warm.stream().mapToLong(Round::copySmallNs).toArray()),
                lowerQuartile(warm.stream().mapToLong(Round::copyLargeNs).toArray()))
            .near(ServingCosts.assumed(device.info().transport()));
    LOG.debug(
        "Costs of serving on device {}, measured in {} rounds: {}; the first window of 1 MiB took {} us,"
            + " the first copy of it {} us",
        device.info().name(),
        warm.size(),
        measured,
        first.registerLargeNs() / 1_000,
        first.copyLargeNs() / 1_000);
    return Optional.of(measured);
  }

  private static long lowerQuartile(long[] values) {
    Arrays.sort(values);
    return values[values.length / 4];
  }
}
