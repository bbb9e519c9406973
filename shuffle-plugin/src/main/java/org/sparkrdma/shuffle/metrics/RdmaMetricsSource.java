// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.spark.metrics.source.Source;
import org.sparkrdma.memory.PinnedBudget;

/**
 * All counters as gauges of Spark's metrics system, and the present state of pinned memory,
 * connections and latency. The comment of each is its meaning in docs/metrics.md. Each full name
 * has the prefix {@code rdma} once: {@code rdma.bytes.read}, {@code rdma.tcp.bytes.read}.
 * Immutable.
 */
public final class RdmaMetricsSource implements Source {
  private static final String PREFIX = "rdma";

  private final MetricRegistry registry = new MetricRegistry();

  /**
   * Publishes these counters; the caller registers the source with Spark.
   *
   * @param pinned account of pinned memory; empty while RDMA is not up
   */
  public RdmaMetricsSource(ShuffleCounters counters, Supplier<Optional<PinnedBudget>> pinned) {
    for (Counter counter : Counter.values()) {
      registry.register(
          nameBelowPrefix(counter.label()), (Gauge<Long>) () -> counters.value(counter));
    }
    for (FallbackReason reason : FallbackReason.values()) {
      registry.register("fallback." + reason.label(), (Gauge<Long>) () -> counters.value(reason));
    }
    // Bytes that are pinned now.
    add("pinned.bytes", () -> pinned.get().map(PinnedBudget::pinnedBytes).orElse(0L));
    // Bytes that may be pinned; 0 while RDMA is not up.
    add("pinned.limit", () -> pinned.get().map(PinnedBudget::limitBytes).orElse(0L));
    // Connections that are established now.
    add("connections.open", counters::openConnections);
    // Microseconds within which half of the READs since the start completed.
    add("read.latency.p50", () -> counters.readLatency().percentileUs(50));
    // Microseconds within which 99 of 100 READs since the start completed.
    add("read.latency.p99", () -> counters.readLatency().percentileUs(99));
  }

  private void add(String name, Gauge<Long> gauge) {
    registry.register(name, gauge);
  }

  @Override
  public String sourceName() {
    return PREFIX;
  }

  private static String nameBelowPrefix(String label) {
    return label.startsWith(PREFIX + ".") ? label.substring(PREFIX.length() + 1) : label;
  }

  @Override
  public MetricRegistry metricRegistry() {
    return registry;
  }
}
