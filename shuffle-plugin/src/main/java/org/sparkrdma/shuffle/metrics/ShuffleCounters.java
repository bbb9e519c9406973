// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.AtomicHistogram;

/** The counters of one executor; safe for any thread, never reset. */
public final class ShuffleCounters {
  private final Map<Counter, LongAdder> counters = new EnumMap<>(Counter.class);
  private final Map<FallbackReason, LongAdder> fallbacks = new EnumMap<>(FallbackReason.class);
  private final ReadLatency readLatency = new ReadLatency();
  private final StageReads stages = new StageReads();

  /** All at zero. */
  public ShuffleCounters() {
    for (Counter counter : Counter.values()) {
      counters.put(counter, new LongAdder());
    }
    for (FallbackReason reason : FallbackReason.values()) {
      fallbacks.put(reason, new LongAdder());
    }
  }

  /** Adds one. */
  public void increment(Counter counter) {
    counters.get(counter).increment();
  }

  /** Adds {@code amount}. */
  public void add(Counter counter, long amount) {
    counters.get(counter).add(amount);
  }

  /**
   * Latencies of READs, from the post until the agent has seen the completion; a sample of them.
   */
  public ReadLatency readLatency() {
    return readLatency;
  }

  /** Bytes that tasks received, by stage. */
  public StageReads stages() {
    return stages;
  }

  /** Counts one block that used TCP for this reason. */
  public void fellBack(FallbackReason reason) {
    fallbacks.get(reason).increment();
  }

  /** Current value. */
  public long value(Counter counter) {
    return counters.get(counter).sum();
  }

  /** Current value. */
  public long value(FallbackReason reason) {
    return fallbacks.get(reason).sum();
  }

  /** Connections that are established now. */
  public long openConnections() {
    // A connection may end between the two sums.
    return Math.max(0, value(Counter.CONNECTIONS_ESTABLISHED) - value(Counter.CONNECTIONS_CLOSED));
  }

  /** All counters by label, and {@code fallback.<reason>} for each reason that occurred. */
  public Map<String, Long> snapshot() {
    Map<String, Long> all = new TreeMap<>();
    for (Counter counter : Counter.values()) {
      all.put(counter.label(), value(counter));
    }
    for (FallbackReason reason : FallbackReason.values()) {
      if (value(reason) > 0) {
        all.put("fallback." + reason.label(), value(reason));
      }
    }
    return all;
  }

  /**
   * Latencies of the READs of one executor, in an HdrHistogram with two significant digits from 1
   * ns to one hour: 37 KB, which never grow. The thread {@code rdma-agent} records, and the thread
   * {@code rdma-control} reads; any thread may do both.
   *
   * <p>An {@link AtomicHistogram}, because recording must neither allocate nor wait. Its counts
   * only grow, and the total is counted last: a percentile that is read while others record is
   * found in one pass, and differs by at most as many ranks as values were recorded meanwhile.
   */
  public static final class ReadLatency {
    /** A READ takes at most {@code spark.shuffle.rdma.request.timeout}, which is at most 30 min. */
    private static final long MAX_NS = TimeUnit.HOURS.toNanos(1);

    private static final int SIGNIFICANT_DIGITS = 2;
    private static final long MICROSECOND_NS = TimeUnit.MICROSECONDS.toNanos(1);

    private final AtomicHistogram histogram = new AtomicHistogram(MAX_NS, SIGNIFICANT_DIGITS);

    /** None yet. */
    private ReadLatency() {}

    /**
     * Counts one latency, without a lock or an allocation.
     *
     * @param latencyNs counted as 0 where it is negative, and as one hour where it is longer
     */
    public void record(long latencyNs) {
      histogram.recordValue(Math.max(0, Math.min(MAX_NS, latencyNs)));
    }

    /**
     * The latency in microseconds that this percentage of all READs did not exceed. It is at most 1
     * % higher than the exact one, and then rounded up to a whole microsecond; 0 where none was
     * recorded.
     *
     * @param percent above 0, at most 100
     */
    public long percentileUs(double percent) {
      long latencyNs = histogram.getValueAtPercentile(percent);
      return (latencyNs + MICROSECOND_NS - 1) / MICROSECOND_NS;
    }
  }

  /**
   * Bytes that tasks of this executor received from other executors and that the driver does not
   * have yet, by stage and path. The sum of all reports that the driver has taken is the sum of
   * what was added. Safe for any thread; called when a request has ended, not for each block.
   */
  public static final class StageReads {
    /** Stands for requests that belong to no task. */
    public static final int NO_STAGE = -1;

    /** Numbers of one stage in {@link #report}. */
    public static final int FIELDS = 4;

    /** Maximum number of stages in one report. */
    public static final int MAX_STAGES = 128;

    /** A driver that takes no reports starts few stages; the earliest are dropped. */
    static final int MAX_WAITING = 10_000;

    /** In no report yet. */
    private final Map<Integer, long[]> added = new LinkedHashMap<>();

    /** The last report, until the driver has it; else empty. */
    private List<Long> report = List.of();

    private long number;

    /** Whether the last report has left stages behind. */
    private boolean leftBehind;

    /** No bytes yet. */
    private StageReads() {}

    /**
     * Adds bytes of a request that has ended.
     *
     * @param stageId Spark's id of the stage, or {@link #NO_STAGE}
     * @param read by READ
     * @param copied of these, that peers have copied
     * @param tcp by TCP
     */
    public synchronized void add(int stageId, long read, long copied, long tcp) {
      if (stageId == NO_STAGE || (read == 0 && tcp == 0)) {
        return;
      }
      long[] bytes = added.computeIfAbsent(stageId, id -> new long[FIELDS - 1]);
      bytes[0] += read;
      bytes[1] += copied;
      bytes[2] += tcp;
      if (added.size() > MAX_WAITING) {
        added.remove(added.keySet().iterator().next());
      }
    }

    /**
     * The next bytes for the driver: the number of this report, then of each stage its id, bytes by
     * READ, of these copied, bytes by TCP. The same report until {@link #taken}: the driver may
     * have one whose answer was lost, and adds the bytes of a number once. Empty without new bytes.
     */
    public synchronized List<Long> report() {
      if (report.isEmpty() && !added.isEmpty()) {
        List<Long> next = new ArrayList<>(List.of(++number));
        Iterator<Map.Entry<Integer, long[]>> stages = added.entrySet().iterator();
        for (int i = 0; i < MAX_STAGES && stages.hasNext(); i++) {
          Map.Entry<Integer, long[]> stage = stages.next();
          long[] bytes = stage.getValue();
          next.addAll(List.of((long) stage.getKey(), bytes[0], bytes[1], bytes[2]));
          stages.remove();
        }
        report = List.copyOf(next);
      }
      leftBehind = !added.isEmpty();
      return report;
    }

    /** The driver has the last report. Returns whether stages waited that were not in it. */
    public synchronized boolean taken() {
      report = List.of();
      return leftBehind;
    }
  }
}
