/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
