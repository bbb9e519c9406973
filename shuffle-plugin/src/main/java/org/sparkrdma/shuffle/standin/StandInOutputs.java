// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.standin;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManager;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.output.PartitionRange;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import org.sparkrdma.shuffle.pinned.Mounts;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * The map outputs of this executor, and those of executors of its application that have ended on
 * its host. Peers name executors, and the shuffle service the directories: no path comes from a
 * peer. Safe for any thread.
 */
public final class StandInOutputs implements MapOutputs {
  /** Maximum wait of blocks for an answer of the service. */
  private static final Duration SERVICE_LIMIT = Duration.ofSeconds(5);

  private final SparkMapOutputs own;
  private final ServiceDirectories service;

  StandInOutputs(SparkMapOutputs own, ServiceDirectories service) {
    this.own = own;
    this.service = service;
  }

  /**
   * What an executor serves beside its own map outputs: nothing without the external shuffle
   * service.
   *
   * @param threads runs work that may wait; false when it takes no more
   */
  public static Function<SparkMapOutputs, MapOutputs> addedTo(
      SparkEnv env, Predicate<Runnable> threads) {
    BlockManager blocks = env.blockManager();
    if (!blocks.externalShuffleServiceEnabled()) {
      return own -> own;
    }
    ServiceDirectories service =
        new ServiceDirectories(
            blocks.blockStoreClient(),
            blocks::shuffleServerId,
            threads,
            () -> Mounts.of(new SystemFiles(Path.of("/"))),
            Stream.of(blocks.diskBlockManager().localDirsString()).map(Path::of).toList(),
            System::nanoTime,
            SERVICE_LIMIT);
    return own -> new StandInOutputs(own, service);
  }

  @Override
  public MapOutput open(int shuffleId, long mapId) throws IOException {
    return own.open(shuffleId, mapId);
  }

  @Override
  public MapOutput openRange(int owner, int shuffleId, long mapId, PartitionRange range)
      throws IOException {
    if (owner == Locate.OWN) {
      return own.openRange(owner, shuffleId, mapId, range);
    }
    OwnerDirectories others;
    try {
      others = service.find(owner).getNow(null);
    } catch (CompletionException e) {
      throw new IOException(e.getMessage(), e);
    }
    if (others == null) {
      // More executors than are kept have ended since its disk was known.
      return null;
    }
    return own.openIn(
        others.names().toArray(String[]::new),
        data -> own.directories().get(others.disk(data)),
        shuffleId,
        mapId,
        range);
  }

  @Override
  public CompletableFuture<Integer> indexDiskOf(int owner, int shuffleId, long mapId) {
    if (owner == Locate.OWN) {
      return CompletableFuture.completedFuture(indexDisk(shuffleId, mapId));
    }
    return service
        .find(owner)
        .thenApply(others -> others.disk(SparkMapOutputs.indexName(shuffleId, mapId)))
        .whenComplete((disk, failure) -> own.onMissing(failure));
  }

  @Override
  public int disks() {
    return own.disks();
  }

  @Override
  public int indexDisk(int shuffleId, long mapId) {
    return own.indexDisk(shuffleId, mapId);
  }

  @Override
  public int dataDisk(MapOutput mapOutput) {
    return own.dataDisk(mapOutput);
  }

  @Override
  public List<Path> directories() {
    return own.directories();
  }

  @Override
  public int checksumKind() {
    return own.checksumKind();
  }
}
