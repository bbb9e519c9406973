// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.sparkrdma.shuffle.wire.Located;

/**
 * One map output: its data file and the offsets of its reduce partitions, of all or of a range.
 * Immutable.
 */
public class MapOutput {
  private final Path dataFile;
  private final Path place;
  private final int partitions;

  /** The partition at which {@link #offsets} and {@link #sums} begin. */
  private final int first;

  private final long[] offsets;

  /** Null for none. */
  private final long[] sums;

  /**
   * A map output whose index is known.
   *
   * @param dataFile need not exist when all partitions are empty
   * @param offsets start of each partition, then the end of the last one
   * @param sums checksum of each partition; null for none
   * @throws IllegalArgumentException when offsets do not begin at 0 or decrease, or the number of
   *     checksums is wrong
   */
  public MapOutput(Path dataFile, long[] offsets, long[] sums) {
    this(dataFile, dataFile, offsets.length - 1, 0, offsets, sums);
  }

  /**
   * A map output, perhaps of another executor, of which a range of the index is known.
   *
   * @param place a directory of this executor, in which the data file counts as one
   * @param partitions number of all partitions
   * @param first partition at which offsets and checksums begin
   */
  MapOutput(Path dataFile, Path place, int partitions, int first, long[] offsets, long[] sums) {
    if (offsets.length < 2 || (first == 0 ? offsets[0] != 0 : offsets[0] < 0)) {
      throw new IllegalArgumentException("bad index: offsets=" + offsets.length);
    }
    for (int i = 1; i < offsets.length; i++) {
      if (offsets[i] < offsets[i - 1]) {
        throw new IllegalArgumentException("bad index: offset decreases: partition=" + (i - 1));
      }
    }
    if (sums != null && sums.length != offsets.length - 1) {
      throw new IllegalArgumentException(
          "bad checksums: sums=" + sums.length + " partitions=" + (offsets.length - 1));
    }
    this.dataFile = dataFile;
    this.place = place;
    this.partitions = partitions;
    this.first = first;
    this.offsets = offsets;
    this.sums = sums;
  }

  /** The file with all partitions, one after the other. */
  public Path dataFile() {
    return dataFile;
  }

  /** Whether its data file is, or counts as one, in one of the directories or below. */
  public boolean isIn(List<Path> directories) {
    for (Path directory : directories) {
      if (place.startsWith(directory)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Reads bytes from an offset until the buffer is full. On a disk thread.
   *
   * @throws IOException when they cannot be read, or there are fewer
   */
  public void read(long fileOffset, ByteBuffer target) throws IOException {
    try (FileChannel channel = FileChannel.open(dataFile, StandardOpenOption.READ)) {
      long at = fileOffset;
      while (target.hasRemaining()) {
        int count = channel.read(target, at);
        if (count < 0) {
          throw new EOFException("data file too short: offset=" + at);
        }
        at += count;
      }
    }
  }

  /** Number of reduce partitions, empty ones included. */
  public int partitions() {
    return partitions;
  }

  /** Whether all partitions are known. */
  public boolean isWhole() {
    return offsets.length - 1 == partitions;
  }

  /** Number of partitions that are not empty, of those that are known. */
  public int blocks() {
    int blocks = 0;
    for (int i = 1; i < offsets.length; i++) {
      blocks += offsets[i] > offsets[i - 1] ? 1 : 0;
    }
    return blocks;
  }

  /** Start of a partition in the file; for {@link #partitions()}, the end of the last one. */
  public long offset(int partition) {
    return offsets[partition - first];
  }

  /** Length of all partitions together in bytes, when all are known. */
  public long lengthBytes() {
    return offsets[offsets.length - 1];
  }

  /** Whether {@link #sum} may be called. */
  public boolean hasSums() {
    return sums != null;
  }

  /** Whether the server computes its checksums where readers verify blocks. */
  public boolean needsSums() {
    return sums == null;
  }

  /** Checksum of a partition. */
  public long sum(int partition) {
    return sums[partition - first];
  }

  // An extent carries the checksums of the partitions that end in it; empty ones have none.

  /**
   * The first of these partitions that ends after {@code fileOffset}; {@code last} for none, and
   * {@code from} without checksums.
   */
  public int partitionEndingAfter(int from, int last, long fileOffset) {
    if (!hasSums()) {
      return from;
    }
    int low = from;
    int high = last;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (offset(middle + 1) > fileOffset) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /**
   * Maximum end of an extent whose checksums fit into the answer.
   *
   * @param from the first partition that ends after its start
   * @param at start of the extent in the file
   * @param end maximum end of the extent, not after that of the block
   * @param room number of checksums that fit
   * @return {@code at} when not even one checksum fits
   */
  public long endOfFittingSums(int from, long at, long end, int room) {
    if (!hasSums()) {
      return end;
    }
    long last = at;
    int fitting = 0;
    for (int i = from; offset(i) < end && offset(i + 1) <= end; i++) {
      if (offset(i + 1) > offset(i)) {
        if (fitting == room) {
          return last;
        }
        fitting++;
        last = offset(i + 1);
      }
    }
    return end;
  }

  /** Number of checksums of an extent from such a partition to this offset of the file. */
  public int countSums(int from, long end) {
    int count = 0;
    if (hasSums()) {
      for (int i = from; offset(i) < end && offset(i + 1) <= end; i++) {
        count += offset(i + 1) > offset(i) ? 1 : 0;
      }
    }
    return count;
  }

  /** Writes so many checksums from a partition on; returns the first that is not written. */
  public int writeSums(Located.Encoder answer, int from, long blockStart, int count) {
    int partition = from;
    for (int left = count; left > 0; partition++) {
      if (offset(partition + 1) > offset(partition)) {
        answer.sum(offset(partition + 1) - blockStart, sum(partition));
        left--;
      }
    }
    return partition;
  }
}
