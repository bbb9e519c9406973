// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.zip.Checksum;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.wire.ChecksumKind;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Checksums that the server computes from the file when no usable ones were recorded: one for each
 * cell of the block.
 *
 * <p>Cells instead of partitions bound the cost of a LOCATE by the bytes that it locates. A request
 * from the middle of a cell gets the checksum of the whole cell. Made for one answer; used by one
 * thread at a time.
 */
public final class ComputedChecksums implements PieceChecksums {
  /** Length of a cell; the last one of a block is shorter. */
  static final int CELL_BYTES = 1 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(ComputedChecksums.class);
  private static final int STEP_BYTES = 128 << 10;

  private final Checksum checksum;
  private ByteBuffer step;
  private MapOutput map;
  private FileChannel channel;
  private MapOutput channelOf;
  private long start;
  private long end;
  private long cell;

  /**
   * @param checksumKind of the sums; not {@link Located#NO_CHECKSUM}
   */
  public ComputedChecksums(int checksumKind) {
    this.checksum = ChecksumKind.newChecksum(checksumKind);
  }

  /** Begins with the cell that contains an offset of the file. */
  public void begin(MapOutput newMap, int startReduceId, int endReduceId, long fileOffset) {
    map = newMap;
    start = map.offset(startReduceId);
    end = map.offset(endReduceId);
    cell = (fileOffset - start) / CELL_BYTES;
  }

  private long cellEnd(long index) {
    return Math.min(end, start + (index + 1) * CELL_BYTES);
  }

  @Override
  public long endOfFittingSums(long at, long blockEnd, int room) {
    if (room <= 0) {
      return at;
    }
    return cellEnd(cell + room - 1);
  }

  @Override
  public int countUntil(long offset) {
    int count = 0;
    while (start + (cell + count) * CELL_BYTES < end && cellEnd(cell + count) <= offset) {
      count++;
    }
    return count;
  }

  @Override
  public void write(Located.Encoder answer, long blockStart, int sums) {
    for (int i = 0; i < sums; i++) {
      long cellEnd = cellEnd(cell);
      try {
        answer.sum(cellEnd - blockStart, sumOf(start + cell * CELL_BYTES, cellEnd));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      cell++;
    }
  }

  private long sumOf(long from, long to) throws IOException {
    if (channelOf != map) {
      endAnswer();
      channel = FileChannel.open(map.dataFile(), StandardOpenOption.READ);
      channelOf = map;
    }
    if (step == null) {
      step = ByteBuffer.allocate(STEP_BYTES);
    }
    checksum.reset();
    long at = from;
    while (at < to) {
      step.clear().limit((int) Math.min(STEP_BYTES, to - at));
      int count = channel.read(step, at);
      if (count < 0) {
        throw new EOFException("data file too short: offset=" + at);
      }
      checksum.update(step.flip());
      at += count;
    }
    return checksum.getValue();
  }

  /** Ends an answer: the file is closed. */
  public void endAnswer() {
    channelOf = null;
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        LOG.debug("Closing a file after reading failed", e);
      }
      channel = null;
    }
  }
}
