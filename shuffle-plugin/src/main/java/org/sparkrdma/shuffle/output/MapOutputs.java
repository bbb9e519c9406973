// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/** Finds map outputs; the interface to Spark's block resolver. */
public interface MapOutputs {
  /**
   * Finds a map output and reads its index and checksums. On a disk thread.
   *
   * @return null when there is no such map output
   * @throws IOException when its files cannot be read or do not match
   */
  MapOutput open(int shuffleId, long mapId) throws IOException;

  /**
   * Same as {@link #open}, of an owner as in {@link Locate}: perhaps an executor that has ended.
   */
  default MapOutput openOf(int owner, int shuffleId, long mapId) throws IOException {
    return owner == Locate.OWN ? open(shuffleId, mapId) : null;
  }

  /**
   * Same as {@link #openOf}; may leave out what is not in a range of partitions.
   *
   * @throws IOException also when the range is longer than the index
   */
  default MapOutput openRange(int owner, int shuffleId, long mapId, PartitionRange range)
      throws IOException {
    return openOf(owner, shuffleId, mapId);
  }

  /**
   * Same as {@link #indexDisk}, of an owner.
   *
   * @return fails when its files are not known
   */
  default CompletableFuture<Integer> indexDiskOf(int owner, int shuffleId, long mapId) {
    return owner == Locate.OWN
        ? CompletableFuture.completedFuture(indexDisk(shuffleId, mapId))
        : CompletableFuture.failedFuture(new IOException("map outputs of no other executor"));
  }

  /**
   * Number of disks, for which work is done independently; those after the {@link #directories} are
   * other sources, which are never taken for a disk that hangs.
   */
  default int disks() {
    return 1;
  }

  /** Index of the disk with a map output's index file; must not wait for a disk. */
  default int indexDisk(int shuffleId, long mapId) {
    return 0;
  }

  /** Index of the disk with a map output's data file; must not wait for a disk. */
  default int dataDisk(MapOutput mapOutput) {
    return 0;
  }

  /**
   * Reads a range of a map output's data file, so that READs of it do not wait for the disk. On a
   * disk thread.
   *
   * @throws IOException when it cannot be read
   */
  default void loadPages(MapOutput mapOutput, long fileOffset, long lengthBytes)
      throws IOException {
    PageLoader.load(mapOutput.dataFile(), fileOffset, lengthBytes);
  }

  /** Existing directories that may contain map outputs. */
  List<Path> directories();

  /** Kind of the checksums of all map outputs, as in {@link Located.Decoder#checksumKind()}. */
  default int checksumKind() {
    return Located.NO_CHECKSUM;
  }
}
