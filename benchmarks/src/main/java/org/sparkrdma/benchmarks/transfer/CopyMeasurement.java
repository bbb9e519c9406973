// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.EOFException;
import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures the {@link Cost} of map outputs: copies their blocks into memory in the order in which a
 * round fetches them, and reads them there as the task does. Confined to one thread.
 */
final class CopyMeasurement {
  /** Memory for the copies, used again and again: as much as is in flight at once. */
  private static final int MEMORY_BYTES = 48 << 20;

  /** Bytes after which the clock is read: its cost does not count then. */
  private static final int BATCH_BYTES = 1 << 20;

  private static final double NS_PER_SECOND = 1e9;
  private static final double GB = 1e9;

  /**
   * CPU time of the two copies without which no client of the loopback engine can deliver a block:
   * from the map-output file into memory, by the device's thread, and from there by the task that
   * reads it.
   *
   * @param copySecondsPerGb of the first one, with a positioned read for each block
   * @param readSecondsPerGb of the second one, with what the task does to the bytes
   */
  record Cost(double copySecondsPerGb, double readSecondsPerGb) implements Serializable {
    /** The rate in GB/s, of 10⁹ bytes, when two threads do nothing else. */
    double gbPerSecond() {
      return 1 / Math.max(copySecondsPerGb, readSecondsPerGb);
    }

    /** CPU time of both. */
    double secondsPerGb() {
      return copySecondsPerGb + readSecondsPerGb;
    }
  }

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final ByteBuffer memory = ByteBuffer.allocateDirect(MEMORY_BYTES);
  private final byte[] chunk = new byte[BlockSum.CHUNK_BYTES];
  private final Layout layout;
  private final BlockSum sum;
  private final List<FileChannel> files = new ArrayList<>();
  private long copyNs;
  private long readNs;

  /**
   * @param sum what the task does to each byte
   */
  private CopyMeasurement(Layout layout, BlockSum sum) {
    this.layout = layout;
    this.sum = sum;
  }

  /**
   * Measures once.
   *
   * @param dataFiles one for each map
   */
  static Cost of(List<Path> dataFiles, Layout layout, BlockSum sum) throws IOException {
    return new CopyMeasurement(layout, sum).measure(dataFiles);
  }

  private Cost measure(List<Path> dataFiles) throws IOException {
    try {
      for (Path file : dataFiles) {
        files.add(FileChannel.open(file, StandardOpenOption.READ));
      }
      copyAll();
    } finally {
      for (FileChannel file : files) {
        file.close();
      }
    }
    double gb = layout.totalBytes() / GB;
    return new Cost(copyNs / NS_PER_SECOND / gb, readNs / NS_PER_SECOND / gb);
  }

  private void copyAll() throws IOException {
    long from = 0;
    int at = 0;
    while (from < layout.totalBytes()) {
      int length = batchBytes(from);
      at = at + length > MEMORY_BYTES ? 0 : at;
      long startNs = threads.getCurrentThreadCpuTime();
      copy(from, at, length);
      long copiedNs = threads.getCurrentThreadCpuTime();
      read(from, at, length);
      readNs += threads.getCurrentThreadCpuTime() - copiedNs;
      copyNs += copiedNs - startNs;
      from += length;
      at += length;
    }
  }

  /** Whole blocks, or a part of one that is longer than a batch. */
  private int batchBytes(long from) {
    int blockBytes = layout.blockBytes();
    if (blockBytes >= BATCH_BYTES) {
      return (int) Math.min(BATCH_BYTES, blockBytes - from % blockBytes);
    }
    int whole = BATCH_BYTES / blockBytes * blockBytes;
    return (int) Math.min(whole, layout.totalBytes() - from);
  }

  /** Copies bytes of the blocks, one reducer after the other with its block of every map. */
  private void copy(long from, int at, int length) throws IOException {
    int blockBytes = layout.blockBytes();
    int done = 0;
    while (done < length) {
      long block = (from + done) / blockBytes;
      int inBlock = (int) ((from + done) % blockBytes);
      int step = Math.min(blockBytes - inBlock, length - done);
      FileChannel file = files.get((int) (block % layout.maps()));
      memory.limit(at + done + step).position(at + done);
      if (file.read(memory, block / layout.maps() * blockBytes + inBlock) != step) {
        throw new EOFException("map output too short");
      }
      done += step;
    }
  }

  /** Reads copied bytes, in the chunks in which the task reads each block. */
  private void read(long from, int at, int length) {
    int blockBytes = layout.blockBytes();
    int done = 0;
    while (done < length) {
      int inBlock = (int) ((from + done) % blockBytes);
      int step = Math.min(Math.min(chunk.length, blockBytes - inBlock), length - done);
      memory.get(at + done, chunk, 0, step);
      sum.add(chunk, step);
      done += step;
    }
  }
}
