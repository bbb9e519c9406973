// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.live;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.spark.metrics.source.Source;
import org.sparkrdma.shuffle.ui.figures.ApplicationTotals;

/**
 * Totals of the application as gauges of the driver's metrics system, where Spark's Prometheus
 * servlet shows them: executors have no web server. Safe for any thread.
 */
final class ApplicationMetricsSource implements Source {
  private static final String NAME = "rdma.application";

  private final MetricRegistry registry = new MetricRegistry();
  private final Supplier<ApplicationTotals> totals;

  ApplicationMetricsSource(Supplier<ApplicationTotals> totals) {
    this.totals = totals;
    add("executors.rdma.up", ApplicationTotals::withRdma);
    add("executors.rdma.off", ApplicationTotals::withoutRdma);
    add("executors.pinned.full", ApplicationTotals::pinnedFull);
    add("bytes.read", all -> all.sums().bytes().read());
    add("bytes.copied", all -> all.sums().bytes().copied());
    add("bytes.tcp", all -> all.sums().bytes().tcp());
    add("bytes.local", all -> all.sums().bytes().local());
    add("blocks.fallback", all -> all.sums().fallbackBlocks());
    add("peers.quarantined", all -> all.sums().quarantines());
  }

  private void add(String name, ToLongFunction<ApplicationTotals> value) {
    registry.register(name, (Gauge<Long>) () -> value.applyAsLong(totals.get()));
  }

  @Override
  public String sourceName() {
    return NAME;
  }

  @Override
  public MetricRegistry metricRegistry() {
    return registry;
  }
}
