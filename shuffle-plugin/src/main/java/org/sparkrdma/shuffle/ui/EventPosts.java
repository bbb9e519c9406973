// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Optional;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.figures.ApplicationFigures;
import org.sparkrdma.shuffle.figures.Changes;

/**
 * Posts changed figures for the event log: at most one event in ten seconds, and fewer when they
 * are large, so that they add at most a megabyte per hour; sums of the application in between. Only
 * the end of the application does not wait, because its last figures are the ones that a History
 * Server shows. Safe for any thread.
 */
final class EventPosts {
  private static final long MIN_INTERVAL_MS = 10_000;

  /** An event of a byte delays the next one by so much: 720,000 bytes per hour. */
  private static final long MS_PER_BYTE = 5;

  private final ApplicationFigures figures;
  private final Consumer<RdmaShuffleEvent> bus;
  private final ObjectMapper mapper = new ObjectMapper();
  private long nextMs = Long.MIN_VALUE;
  private long nextTotalsMs = Long.MIN_VALUE;

  /**
   * @param bus receives the events
   */
  EventPosts(ApplicationFigures figures, Consumer<RdmaShuffleEvent> bus) {
    this.figures = figures;
    this.bus = bus;
  }

  /**
   * Posts what has changed, when the time since the event before is long enough.
   *
   * @param atEnd whether the application ends, which does not wait
   */
  synchronized void post(long nowMs, boolean atEnd) {
    Optional<RdmaShuffleEvent> event = Optional.empty();
    if (atEnd || nowMs >= nextMs) {
      event = figures.takeChanges(nowMs).map(EventPosts::event);
      event.ifPresent(all -> nextMs = nowMs + Math.max(MIN_INTERVAL_MS, MS_PER_BYTE * bytes(all)));
    } else if (nowMs >= nextTotalsMs) {
      event = figures.takeTotals(nowMs).map(EventPosts::event);
      // Also without a change: they are summed over all executors.
      nextTotalsMs = nowMs + MIN_INTERVAL_MS;
    }
    if (event.isPresent()) {
      nextTotalsMs = nowMs + MIN_INTERVAL_MS;
      bus.accept(event.get());
    }
  }

  private static RdmaShuffleEvent event(Changes changes) {
    return new RdmaShuffleEvent(RdmaShuffleEvent.SCHEMA, changes);
  }

  private long bytes(RdmaShuffleEvent event) {
    try {
      return mapper.writeValueAsBytes(event).length;
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("cannot encode an event of lists, numbers and strings", e);
    }
  }
}
