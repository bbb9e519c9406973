// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.broadcast;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.sparkrdma.benchmarks.jobs.Workload;
import org.sparkrdma.launch.DataSize;

/**
 * Input of the driver, as JSON.
 *
 * @param join whether each value is the smaller table of an SQL join
 * @param modes to compare; ratios are to the first
 * @param rounds in which each mode has one application
 * @param warmUps values before the measured ones, in the same executors
 */
record BroadcastPlan(boolean join, List<Shape> shapes, List<Mode> modes, int rounds, int warmUps) {
  /** Measured values of each application, whose median counts. */
  static final int VALUES = 3;

  /** The round that only counts what the driver sends. */
  static final int EGRESS_ROUND = 0;

  /**
   * Size of a value and number of executors that get it, such as {@code 100mx4}.
   *
   * @param bytes of the value
   * @param executors of one core each
   */
  record Shape(int bytes, int executors) {
    static final int MIN_EXECUTORS = 2;
    static final int MAX_EXECUTORS = 16;

    /** A value is one array of the heap, which every side has several times. */
    private static final DataSize MAX_SIZE = new DataSize(1L << 30);

    private static final int MIN_HEAP_MIB = 1_024;

    /**
     * @throws IllegalArgumentException in one sentence, if the text is no such shape
     */
    static Shape parse(String text) {
      Workload.Shape shape = Workload.Shape.parse(text, 2);
      return new Shape(shape.bytes(0, MAX_SIZE), shape.count(1, MIN_EXECUTORS, MAX_EXECUTORS));
    }

    /**
     * Heap of each executor, and of the driver, in MiB: half of it is for stored blocks, which are
     * the pieces and the value. A join has the table some more times.
     */
    int heapMib(boolean join) {
      return Math.max(MIN_HEAP_MIB, MIN_HEAP_MIB / 2 + (join ? 12 : 5) * (bytes >> 20));
    }

    /** The text for {@link #parse}. */
    @Override
    public String toString() {
      return new DataSize(bytes).toOption() + "x" + executors;
    }
  }

  /** A transfer of broadcast variables to compare; the modes differ in these settings only. */
  enum Mode {
    /** Spark without the plug-in. */
    TORRENT,
    /** The plug-in, which leaves broadcast variables to Spark. */
    OFF,
    /** The plug-in's pipeline of executors, by Spark's TCP. */
    TCP,
    /** The same pipeline by READ, with the defaults of {@code broadcast.mode=auto}. */
    READ;

    /**
     * The settings; {@link #OFF} sets no {@code broadcast.mode}, so that it measures the default.
     */
    Map<String, String> conf() {
      Map<String, String> conf = new HashMap<>();
      String manager = this == TORRENT ? "sort" : "org.sparkrdma.shuffle.RdmaShuffleManager";
      conf.put("spark.shuffle.manager", manager);
      if (this == TCP || this == READ) {
        conf.put("spark.shuffle.rdma.broadcast.mode", this == TCP ? "tcp" : "auto");
      }
      return conf;
    }

    /**
     * The modes in the order of one round: each round begins with another one, and every second
     * round is the reverse.
     *
     * @param round from 1
     */
    static List<Mode> order(List<Mode> modes, int round) {
      List<Mode> order = new ArrayList<>(modes);
      Collections.rotate(order, -((round - 1) / 2));
      if (round % 2 == 0) {
        Collections.reverse(order);
      }
      return order;
    }

    /** The name in options, progress, table and report. */
    @JsonValue
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
