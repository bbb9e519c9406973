// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
  private final ProtectionDomain domain;
  private final PinnedBudget budget;
  private final Set<AccessFlag> access;
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
    this.domain = domain;
    this.budget = budget;
    this.access = access;
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
        register(file, SMALL_BYTES),
        register(file, LARGE_BYTES),
        copy(file, target, SMALL_BYTES),
        copy(file, target, LARGE_BYTES));
  }

  private long register(Path file, int lengthBytes) throws VerbsException {
    long startNs = nanoClock.getAsLong();
    domain.registerFile(file, 0, lengthBytes, access).close();
    return nanoClock.getAsLong() - startNs;
  }

  private long copy(Path file, ByteBuffer target, int lengthBytes) throws IOException {
    long startNs = nanoClock.getAsLong();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      target.clear().limit(lengthBytes);
      while (target.hasRemaining()) {
        if (channel.read(target, target.position()) < 0) {
          throw new EOFException("file too short: " + file);
        }
      }
    }
    return nanoClock.getAsLong() - startNs;
  }

  private Optional<ServingCosts> quartiles(List<Round> rounds) {
    if (rounds.size() <= MIN_ROUNDS) {
      LOG.debug("Costs of serving are not measured: rounds={} are too few", rounds.size());
      return Optional.empty();
    }
    Round first = rounds.get(0);
    List<Round> warm = rounds.subList(1, rounds.size());
    ServingCosts costs =
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
        costs,
        first.registerLargeNs() / 1_000,
        first.copyLargeNs() / 1_000);
    return Optional.of(costs);
  }

  private static long lowerQuartile(long[] values) {
    Arrays.sort(values);
    return values[values.length / 4];
  }
}
