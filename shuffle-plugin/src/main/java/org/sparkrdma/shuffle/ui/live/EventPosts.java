// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.live;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.sparkrdma.shuffle.ui.RdmaShuffleEvent;
import org.sparkrdma.shuffle.ui.figures.BytesByPath;

/**
 * Collects changed figures of executors into events: at most one in ten seconds, and fewer when
 * they are large, so that they add at most a megabyte per hour to the event log. Between them small
 * events have the totals of the application, so that the chart of a History Server has a point for
 * each ten seconds. Only the end of the application does not wait for that time, because its last
 * figures are the ones that a History Server shows. Not safe for several threads; owned by {@link
 * ShuffleUi}.
 */
final class EventPosts {
  private static final long MIN_INTERVAL_MS = 10_000;

  /**
   * An event of a byte delays the next one with figures of executors by so much: 720,000 bytes per
   * hour. Those with totals add at most 360 times 200 bytes.
   */
  private static final long MS_PER_BYTE = 5;

  private static final int MAX_STAGES = 500;

  /** Maximum number of executors whose last values are remembered. */
  static final int MAX_EXECUTORS = 10_000;

  private final Consumer<RdmaShuffleEvent> bus;
  private final ObjectMapper mapper = new ObjectMapper();

  /** Last values by executor, in the order in which they were first reported. */
  private final Map<String, Map<String, Object>> posted = new LinkedHashMap<>();

  private final Map<String, Map<String, Object>> changed = new LinkedHashMap<>();
  private final Map<Integer, BytesByPath> stages = new TreeMap<>();
  private final Supplier<BytesByPath> totals;
  private List<String> notes;
  private long nextMs = Long.MIN_VALUE;
  private long nextFiguresMs = Long.MIN_VALUE;
  private List<Long> postedTotals = List.of();

  /**
   * @param bus receives the events
   * @param totals present bytes of the application by path
   * @param notes for the first event
   */
  EventPosts(Consumer<RdmaShuffleEvent> bus, Supplier<BytesByPath> totals, List<String> notes) {
    this.bus = bus;
    this.totals = totals;
    this.notes = List.copyOf(notes);
  }

  /** An executor has reported its figures. */
  void add(String executorId, Map<String, Object> figures) {
    if (posted.size() >= MAX_EXECUTORS && !posted.containsKey(executorId)) {
      // The earliest; one that still reports is added again.
      posted.remove(posted.keySet().iterator().next());
    }
    Map<String, Object> before = posted.computeIfAbsent(executorId, id -> new HashMap<>());
    figures.forEach(
        (name, value) -> {
          if (!value.equals(before.put(name, value))) {
            changed.computeIfAbsent(executorId, id -> new LinkedHashMap<>()).put(name, value);
          }
        });
  }

  /** The bytes of a stage have changed. */
  void addStage(int stageId, BytesByPath received) {
    stages.put(stageId, received);
    if (stages.size() > MAX_STAGES) {
      stages.remove(stages.keySet().iterator().next());
    }
  }

  /** The executor has ended; its changes are still posted. */
  void remove(String executorId) {
    posted.remove(executorId);
  }

  /**
   * Posts what has changed, when the time since the event before is long enough; the totals only,
   * when it is too early for the figures of executors.
   */
  void postIfDue(long nowMs) {
    if (nowMs >= nextMs) {
      if (nowMs >= nextFiguresMs) {
        post(nowMs);
      } else {
        postTotals(nowMs);
      }
    }
  }

  /**
   * Posts what has changed, at the end of the application: at any time, nothing without changes.
   */
  void postLast(long nowMs) {
    post(nowMs);
  }

  private void post(long nowMs) {
    if (changed.isEmpty() && notes.isEmpty() && stages.isEmpty()) {
      return;
    }
    RdmaShuffleEvent event = RdmaShuffleEvent.of(nowMs, notes, changed, encodedStages());
    changed.clear();
    stages.clear();
    notes = List.of();
    postedTotals = encodedTotals();
    nextMs = nowMs + MIN_INTERVAL_MS;
    nextFiguresMs = nowMs + Math.max(MIN_INTERVAL_MS, MS_PER_BYTE * bytes(event));
    bus.accept(event);
  }

  private void postTotals(long nowMs) {
    List<Long> now = encodedTotals();
    if (!now.equals(postedTotals)) {
      postedTotals = now;
      nextMs = nowMs + MIN_INTERVAL_MS;
      bus.accept(RdmaShuffleEvent.ofTotals(nowMs, now));
    }
  }

  private List<Long> encodedTotals() {
    BytesByPath now = totals.get();
    return List.of(now.read(), now.copied(), now.tcp());
  }

  private Map<Integer, List<Long>> encodedStages() {
    Map<Integer, List<Long>> encoded = new LinkedHashMap<>();
    stages.forEach(
        (id, received) ->
            encoded.put(id, List.of(received.read(), received.copied(), received.tcp())));
    return encoded;
  }

  private long bytes(RdmaShuffleEvent event) {
    try {
      return mapper.writeValueAsBytes(event).length;
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("cannot encode an event of lists, numbers and strings", e);
    }
  }
}
