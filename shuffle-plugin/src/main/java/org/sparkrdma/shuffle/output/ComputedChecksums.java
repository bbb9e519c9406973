// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.zip.Checksum;
import org.sparkrdma.shuffle.wire.ChecksumKind;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Checksums that the server computes from the file when no usable ones were recorded: one for each
 * cell of the block, computed for a group of cells at a time. A request from the middle of a cell
 * gets the checksum of the whole cell. Used by one thread at a time, but for {@link #compute}.
 */
public final class ComputedChecksums implements ExtentChecksums {
  /** Length of a cell; the last one of a block is shorter. */
  static final int CELL_BYTES = 1 << 20;

  /** Length of a group; the last one of a block is shorter. */
  static final int GROUP_BYTES = 64 * CELL_BYTES;

  private static final int STEP_BYTES = 128 << 10;

  private long blockStart;
  private long blockEnd;
  private long groupStart;
  private long[] sums;
  private int cell;

  /** Start of the group with an offset of the file, for a block that begins at another one. */
  public static long groupStart(long blockStart, long fileOffset) {
    return fileOffset - (fileOffset - blockStart) % GROUP_BYTES;
  }

  /** End of the group with this start, for a block that ends at an offset. */
  public static long groupEnd(long groupStart, long blockEnd) {
    return Math.min(blockEnd, groupStart + GROUP_BYTES);
  }

  /**
   * Computes the checksums of the cells of a range that begins with a cell. Any thread.
   *
   * @throws IOException when the file cannot be read
   */
  public static long[] compute(MapOutput map, long start, long end, int checksumKind)
      throws IOException {
    Checksum checksum = ChecksumKind.newChecksum(checksumKind);
    long[] sums = new long[(int) ((end - start + CELL_BYTES - 1) / CELL_BYTES)];
    ByteBuffer step = ByteBuffer.allocate(STEP_BYTES);
    try (FileChannel channel = FileChannel.open(map.dataFile(), StandardOpenOption.READ)) {
      long at = start;
      for (int i = 0; i < sums.length; i++) {
        long cellEnd = Math.min(end, at + CELL_BYTES);
        checksum.reset();
        while (at < cellEnd) {
          step.clear().limit((int) Math.min(STEP_BYTES, cellEnd - at));
          int count = channel.read(step, at);
          if (count < 0) {
            throw new EOFException("data file too short: offset=" + at);
          }
          checksum.update(step.flip());
          at += count;
        }
        sums[i] = checksum.getValue();
      }
    }
    return sums;
  }

  /**
   * Begins with the cell that contains an offset of the file.
   *
   * @param start of the block in the file
   * @param end of the block in the file
   * @param newGroupStart start of a group
   * @param groupSums its checksums
   */
  public void begin(long start, long end, long newGroupStart, long[] groupSums, long fileOffset) {
    blockStart = start;
    blockEnd = end;
    groupStart = newGroupStart;
    sums = groupSums;
    cell = (int) ((fileOffset - groupStart) / CELL_BYTES);
  }

  private long cellEnd(int index) {
    return Math.min(blockEnd, groupStart + (index + 1L) * CELL_BYTES);
  }

  @Override
  public long endOfFittingSums(long at, long end, int room) {
    return room <= 0 ? at : cellEnd(Math.min(cell + room, sums.length) - 1);
  }

  @Override
  public int countUntil(long offset) {
    int count = 0;
    while (cell + count < sums.length && cellEnd(cell + count) <= offset) {
      count++;
    }
    return count;
  }

  @Override
  public void write(Located.Encoder answer, long start, int count) {
    for (int i = 0; i < count; i++) {
      answer.sum(cellEnd(cell) - blockStart, sums[cell]);
      cell++;
    }
  }
}
