// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import org.apache.spark.metrics.source.Source;

/**
 * All counters as gauges of Spark's metrics system. Each full name has the prefix {@code rdma}
 * once: {@code rdma.bytes.read}, {@code rdma.tcp.bytes.read}. Immutable.
 */
public final class RdmaMetricsSource implements Source {
  private static final String PREFIX = "rdma";

  private final MetricRegistry registry = new MetricRegistry();

  /** Publishes these counters; the caller registers the source with Spark. */
  public RdmaMetricsSource(ShuffleCounters counters) {
    for (Counter counter : Counter.values()) {
      registry.register(
          nameBelowPrefix(counter.label()), (Gauge<Long>) () -> counters.value(counter));
    }
    for (FallbackReason reason : FallbackReason.values()) {
      registry.register("fallback." + reason.label(), (Gauge<Long>) () -> counters.value(reason));
    }
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
