// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * One map output: its data file and the offsets of its reduce partitions.
 *
 * <p>Of an index with many partitions only pages are kept that were requested. {@link #read} may
 * run on any thread; everything else is for one thread at a time.
 */
public final class MapOutput {
  /** Partitions of a page of a large index. */
  public static final int PAGE_PARTITIONS = 512;

  /** Reads parts of the index and checksum files. */
  public interface Source {
    /**
     * Offsets of the starts of {@code count} partitions, the first {@code first}, and the last
     * one's end.
     */
    long[] offsets(int first, int count) throws IOException;

    /** Checksums of {@code count} partitions, the first {@code first}; null for none. */
    long[] sums(int first, int count) throws IOException;
  }

  /** Pages that were read, to be added; opaque. */
  public static final class Pages {
    private final int first;
    private final long[][] offsets;
    private final long[][] sums;

    private Pages(int first, int count) {
      this.first = first;
      this.offsets = new long[count][];
      this.sums = new long[count][];
    }
  }

  private final Path dataFile;
  private final int partitions;
  private final long lengthBytes;
  private final boolean hasSums;
  private final int pagePartitions;
  private final Source source;
  private final long[][] offsetPages;
  private final long[][] sumPages;
  private int loadedPartitions;

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
    if (offsets.length < 2 || offsets[0] != 0) {
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
    this.partitions = offsets.length - 1;
    this.lengthBytes = offsets[partitions];
    this.hasSums = sums != null;
    this.pagePartitions = partitions;
    this.source = null;
    this.offsetPages = new long[][] {offsets};
    this.sumPages = new long[][] {sums};
    this.loadedPartitions = partitions;
  }

  /**
   * A map output whose index is read when it is needed.
   *
   * @param lengthBytes of all partitions together
   * @param hasSums whether the source has checksums
   */
  public MapOutput(
      Path dataFile, int partitions, long lengthBytes, boolean hasSums, Source source) {
    this.dataFile = dataFile;
    this.partitions = partitions;
    this.lengthBytes = lengthBytes;
    this.hasSums = hasSums;
    this.pagePartitions = PAGE_PARTITIONS;
    this.source = source;
    int pages = (partitions + PAGE_PARTITIONS - 1) / PAGE_PARTITIONS;
    this.offsetPages = new long[pages][];
    this.sumPages = new long[pages][];
  }

  /** The file with all partitions, one after the other. */
  public Path dataFile() {
    return dataFile;
  }

  /** Whether its data file is in one of the directories or below. */
  public boolean isIn(List<Path> directories) {
    for (Path directory : directories) {
      if (dataFile.startsWith(directory)) {
        return true;
      }
    }
    return false;
  }

  /** Number of reduce partitions, empty ones included. */
  public int partitions() {
    return partitions;
  }

  /** Number of partitions whose offsets are in memory. */
  public int loadedPartitions() {
    return loadedPartitions;
  }

  /** Whether offsets and checksums of these partitions are in memory. */
  public boolean isLoaded(int startReduceId, int endReduceId) {
    for (int page = page(startReduceId); page <= page(endReduceId - 1); page++) {
      if (offsetPages[page] == null) {
        return false;
      }
    }
    return true;
  }

  /**
   * Reads the pages of these partitions, and changes nothing.
   *
   * @throws IOException when the files cannot be read or are inconsistent
   */
  public Pages read(int startReduceId, int endReduceId) throws IOException {
    int first = page(startReduceId);
    int count = page(endReduceId - 1) - first + 1;
    Pages pages = new Pages(first, count);
    for (int i = 0; i < count; i++) {
      int start = (first + i) * pagePartitions;
      int length = Math.min(pagePartitions, partitions - start);
      long[] offsets = source.offsets(start, length);
      check(start, offsets);
      pages.offsets[i] = offsets;
      pages.sums[i] = hasSums ? source.sums(start, length) : null;
    }
    return pages;
  }

  private void check(int start, long[] offsets) throws IOException {
    long before = start == 0 ? 0 : offsets[0];
    boolean consistent = offsets[0] == before && offsets[offsets.length - 1] <= lengthBytes;
    for (long offset : offsets) {
      consistent &= offset >= before;
      before = offset;
    }
    if (!consistent) {
      throw new EOFException("bad index: offsets decrease or exceed the data: partition=" + start);
    }
  }

  /** Keeps pages; returns how many partitions were not in memory before. */
  public int add(Pages pages) {
    int before = loadedPartitions;
    for (int i = 0; i < pages.offsets.length; i++) {
      int page = pages.first + i;
      if (offsetPages[page] == null) {
        offsetPages[page] = pages.offsets[i];
        sumPages[page] = pages.sums[i];
        loadedPartitions += pages.offsets[i].length - 1;
      }
    }
    return loadedPartitions - before;
  }

  /** Most map outputs have one page, and a division costs much here. */
  private int page(int partition) {
    return offsetPages.length == 1 ? 0 : partition / pagePartitions;
  }

  /**
   * Start of a partition in the file; for {@link #partitions()}, the end of the last one. This
   * partition or the one before must be in memory.
   */
  public long offset(int partition) {
    int page = page(partition);
    if (page == offsetPages.length || offsetPages[page] == null) {
      page--;
    }
    return offsetPages[page][partition - page * pagePartitions];
  }

  /** Length of all partitions together in bytes. */
  public long lengthBytes() {
    return lengthBytes;
  }

  /** Whether {@link #sum} may be called. */
  public boolean hasSums() {
    return hasSums;
  }

  /** Checksum of a partition in memory. */
  public long sum(int partition) {
    int page = page(partition);
    return sumPages[page][partition - page * pagePartitions];
  }

  /** The first of these partitions that ends after {@code fileOffset}; {@code last} for none. */
  int partitionEndingAfter(int first, int last, long fileOffset) {
    int low = first;
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
}
