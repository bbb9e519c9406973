// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.spark.metrics.source.Source;
import org.sparkrdma.shuffle.figures.ApplicationTotals;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * Totals of the application as gauges of the driver's metrics system, where Spark's Prometheus
 * servlet shows them: executors have no web server. The comment of each is its meaning in
 * docs/metrics.md. Safe for any thread.
 *
 * <p>Sums over thousands of executors take milliseconds under the lock of their reports, so all
 * gauges of a scrape show the same sums.
 */
final class ApplicationMetricsSource implements Source {
  /** Longer than a scrape takes, shorter than the time between two. */
  private static final long MAX_AGE_NS = TimeUnit.SECONDS.toNanos(1);

  private final MetricRegistry registry = new MetricRegistry();
  private final Supplier<ApplicationTotals> totals;
  private final LongSupplier nowNs;

  // Guarded by this.

  private ApplicationTotals last;
  private long lastNs;

  /**
   * @param nowNs a clock such as {@link System#nanoTime}
   */
  ApplicationMetricsSource(Supplier<ApplicationTotals> totals, LongSupplier nowNs) {
    this.totals = totals;
    this.nowNs = nowNs;
    // Running executors that use RDMA.
    add("executors.rdma.up", ApplicationTotals::withRdma);
    // Running executors that use no RDMA at present.
    add("executors.rdma.off", ApplicationTotals::withoutRdma);
    // Running executors that have pinned at least 95 % of what they may.
    add("executors.pinned.full", ApplicationTotals::pinnedFull);
    // Bytes that running executors have pinned now.
    add("pinned.bytes", all -> all.present(Figure.PINNED));
    // Bytes that running executors with RDMA may pin.
    add("pinned.limit", all -> all.present(Figure.PINNED_LIMIT));
    // Connections that are established now; each counts in both executors.
    add("connections.open", all -> all.present(Figure.CONNECTIONS));
    // Microseconds within which half of the READs of the slowest running executor completed.
    add("read.latency.p50", all -> all.present(Figure.LATENCY_P50_US));
    // Microseconds within which 99 of 100 READs of the slowest running executor completed.
    add("read.latency.p99", all -> all.present(Figure.LATENCY_P99_US));
    // Bytes delivered to tasks by RDMA READ.
    add("bytes.read", all -> all.bytes().read());
    // Bytes served to peers from copies.
    add("bytes.copied", all -> all.bytes().copied());
    // Bytes of other executors delivered over TCP.
    add("bytes.tcp", all -> all.bytes().tcp());
    // Bytes delivered over TCP although the reading executor and its peer use RDMA.
    add("bytes.fallback", all -> all.fallbackBytes());
    // Bytes that executors read from their own disks.
    add("bytes.local", all -> all.bytes().local());
    // Blocks that used TCP although the reading executor and its peer use RDMA.
    add("blocks.fallback", all -> all.fallbackBlocks());
    // Blocks that used TCP because reader or peer has no RDMA.
    add("blocks.without.rdma", all -> all.blocksWithoutRdma());
    // Quarantines of peers.
    add("peers.quarantined", all -> all.quarantines());
  }

  private void add(String name, ToLongFunction<ApplicationTotals> value) {
    registry.register(name, (Gauge<Long>) () -> value.applyAsLong(recent()));
  }

  private synchronized ApplicationTotals recent() {
    long now = nowNs.getAsLong();
    if (last == null || now - lastNs >= MAX_AGE_NS) {
      last = totals.get();
      lastNs = now;
    }
    return last;
  }

  @Override
  public String sourceName() {
    return "rdma.application";
  }

  @Override
  public MetricRegistry metricRegistry() {
    return registry;
  }
}
