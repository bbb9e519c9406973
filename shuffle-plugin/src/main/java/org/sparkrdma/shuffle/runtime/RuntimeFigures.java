// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * The figures of this executor for the driver: state, device, pinned memory, bytes by path and
 * fallbacks. Collected by the thread of the directory.
 */
final class RuntimeFigures {
  private RuntimeFigures() {}

  /**
   * The present figures by the label of {@link Figure}; values are Long or String, and the report
   * of {@code StageReads}.
   */
  static Map<String, Object> of(RuntimeStatus now, ShuffleCounters counters) {
    Map<String, Object> figures = new LinkedHashMap<>();
    put(figures, Figure.STATE, now.state().name().toLowerCase(Locale.ROOT));
    put(figures, Figure.REASONS, String.join("; ", now.reasons()));
    if (now.is(RuntimeStatus.State.UP)) {
      putOpen(figures, now.open());
    } else {
      put(figures, Figure.PINNED, 0L);
    }
    put(figures, Figure.CONNECTIONS, counters.openConnections());
    put(figures, Figure.QUARANTINES, counters.value(Counter.PEERS_QUARANTINED));
    // First: a READ that is counted meanwhile shows in the next report.
    long broadcastBytes = counters.value(Counter.BROADCAST_BYTES_READ);
    put(figures, Figure.BROADCAST, broadcastBytes);
    put(figures, Figure.READ, counters.value(Counter.RDMA_BYTES_READ) - broadcastBytes);
    put(figures, Figure.ENDED, counters.value(Counter.ENDED_BYTES_READ));
    put(figures, Figure.COPIED, counters.value(Counter.BYTES_FROM_COPIES));
    put(figures, Figure.TCP, counters.value(Counter.TCP_BYTES_READ));
    put(figures, Figure.TCP_FALLBACK, counters.value(Counter.FALLBACK_BYTES_READ));
    put(figures, Figure.LATENCY_P50_US, counters.readLatency().percentileUs(50));
    put(figures, Figure.LATENCY_P99_US, counters.readLatency().percentileUs(99));
    for (FallbackReason reason : FallbackReason.values()) {
      if (counters.value(reason) > 0) {
        figures.put(Figure.FALLBACK + reason.label(), counters.value(reason));
      }
    }
    List<Long> stages = counters.stages().report();
    if (!stages.isEmpty()) {
      figures.put(Figure.STAGES, stages);
    }
    return figures;
  }

  private static void putOpen(Map<String, Object> figures, OpenRdma open) {
    List<ListenerAddress> addresses = open.transport().endpoint().addresses();
    put(figures, Figure.ENGINE, open.engine().name());
    put(figures, Figure.DEVICE, open.device().info().name());
    put(
        figures,
        Figure.ADDRESSES,
        addresses.stream().map(RuntimeFigures::hostPort).collect(Collectors.joining(", ")));
    put(figures, Figure.PINNED, open.budget().pinnedBytes());
    put(figures, Figure.PINNED_HIGHEST, open.budget().highestBytes());
    put(figures, Figure.PINNED_LIMIT, open.budget().limitBytes());
  }

  private static String hostPort(ListenerAddress address) {
    String host = NetworkAddress.textForPeers(address.network().address());
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.port();
  }

  private static void put(Map<String, Object> figures, Figure figure, Object value) {
    figures.put(figure.label(), value);
  }
}
