// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import com.fasterxml.jackson.annotation.JsonValue;
import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import org.apache.spark.storage.ShuffleBlockId;

/**
 * Input of one application, as JSON.
 *
 * @param batch blocks of one request, for latency
 * @param totalBytes least number of bytes that each engine fetches in each round
 * @param cpu scope of the measured CPU time
 */
record TransferPlan(
    Kind kind,
    List<Integer> blockBytes,
    int batch,
    int warmUps,
    int rounds,
    long totalBytes,
    Meter.CpuScope cpu) {
  private static final int MAPS = 4;

  /** Requests of one round, for latency. */
  private static final int MAX_BLOCKS = 2_000;

  /** Most bytes of a round, for latency. */
  static final long MAX_LATENCY_BYTES = 256L << 20;

  /** Warm-up rounds; the first block length has one more, for classes and connections. */
  int warmUps(int bytes) {
    return bytes == blockBytes.get(0) ? warmUps + 1 : warmUps;
  }

  /** The map outputs of a round. For latency each request is that of one reducer. */
  Layout layout(int bytes) {
    if (kind != Kind.LATENCY) {
      return Layout.of(totalBytes, MAPS, bytes);
    }
    long fitting = Math.min(MAX_BLOCKS, MAX_LATENCY_BYTES / bytes);
    return new Layout(bytes, batch, Math.toIntExact(Math.max(1, fitting / batch)));
  }

  /** Kind of measurement of fetched blocks. */
  enum Kind {
    /** Throughput and CPU time while requests wait for each other. */
    THROUGHPUT,
    /** Time of one request while there is no other. */
    LATENCY,
    /** CPU time of the plug-in itself, on a device whose READs move no bytes. */
    CEILING;

    /** The name in reports. */
    @JsonValue
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The map outputs of one round: {@code maps} files of {@code reducers} blocks of equal length.
   *
   * @param blockBytes a multiple of 1 KiB
   */
  record Layout(int blockBytes, int maps, int reducers) implements Serializable {
    /** Map outputs that hold at least {@code totalBytes} together. */
    static Layout of(long totalBytes, int maps, long blockBytes) {
      long perReducer = maps * blockBytes;
      return new Layout(
          Math.toIntExact(blockBytes),
          maps,
          Math.toIntExact((totalBytes + perReducer - 1) / perReducer));
    }

    /** Number of blocks. */
    int blocks() {
      return Math.multiplyExact(maps, reducers);
    }

    long totalBytes() {
      return (long) blocks() * blockBytes;
    }

    /** Spark's name of a block. */
    static String blockId(int shuffleId, int map, int reducer) {
      return new ShuffleBlockId(shuffleId, map, reducer).name();
    }
  }
}
