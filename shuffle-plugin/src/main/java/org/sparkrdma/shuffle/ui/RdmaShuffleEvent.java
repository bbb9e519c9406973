// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * The figures that have changed since the last such event, in the event log:
 *
 * <pre>
 *   "schema": 1, "timeMs": milliseconds since 1970,
 *   "notes": [text, ...],
 *   "executors": [[executor id, name, value, name, value, ...], ...],
 *   "stages": [[stage id, bytes by READ, of these from copy pools, bytes by TCP], ...],
 *   "totals": [bytes by READ, of these from copy pools, bytes by TCP]
 * </pre>
 *
 * <p>Stages and totals have sums over all executors since the start. Events with totals are small:
 * they come between those with the figures of executors. A property without elements is absent,
 * except the first two lists. Names are the labels of {@link org.sparkrdma.shuffle.metrics.Figure}.
 * Event logs outlive the version that wrote them: this class and its properties are never renamed,
 * and a reader accepts any value, because an exception would end the replay of the whole log.
 * Immutable.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public final class RdmaShuffleEvent implements SparkListenerEvent {
  /** Changes when an earlier reader would misread the event. */
  static final int SCHEMA = 1;

  private final int schema;
  private final long timeMs;
  private final List<String> notes;
  private final Map<String, Map<String, Object>> figures;
  private final Map<Integer, List<Long>> stages;
  private final List<Long> totals;

  private RdmaShuffleEvent(
      int schema,
      long timeMs,
      List<String> notes,
      Map<String, Map<String, Object>> figures,
      Map<Integer, List<Long>> stages,
      List<Long> totals) {
    this.schema = schema;
    this.timeMs = timeMs;
    this.notes = notes;
    this.figures = figures;
    this.stages = stages;
    this.totals = totals;
  }

  /**
   * An event of this version.
   *
   * @param figures by executor and name; values are Long or String
   * @param stages the three sums of each stage
   */
  public static RdmaShuffleEvent of(
      long timeMs,
      List<String> notes,
      Map<String, Map<String, Object>> figures,
      Map<Integer, List<Long>> stages) {
    Map<String, Map<String, Object>> copy = new LinkedHashMap<>();
    figures.forEach((executorId, values) -> copy.put(executorId, new LinkedHashMap<>(values)));
    return new RdmaShuffleEvent(
        SCHEMA, timeMs, List.copyOf(notes), copy, new LinkedHashMap<>(stages), List.of());
  }

  /**
   * An event of this version with totals only.
   *
   * @param totals the three sums of the application
   */
  public static RdmaShuffleEvent ofTotals(long timeMs, List<Long> totals) {
    return new RdmaShuffleEvent(SCHEMA, timeMs, List.of(), Map.of(), Map.of(), List.copyOf(totals));
  }

  /** Called by Jackson. Every parameter accepts any JSON; what is malformed is left out. */
  @JsonCreator
  static RdmaShuffleEvent read(
      @JsonProperty("schema") JsonNode schema,
      @JsonProperty("timeMs") JsonNode timeMs,
      @JsonProperty("notes") JsonNode notes,
      @JsonProperty("executors") JsonNode executors,
      @JsonProperty("stages") JsonNode stages,
      @JsonProperty("totals") JsonNode totals) {
    List<String> sentences = new ArrayList<>();
    elements(notes).forEach(note -> sentences.add(note.asText()));
    Map<String, Map<String, Object>> figures = new LinkedHashMap<>();
    for (JsonNode one : elements(executors)) {
      if (one.path(0).isTextual()) {
        figures.put(one.path(0).asText(), figures(one));
      }
    }
    return new RdmaShuffleEvent(
        schema == null ? 0 : schema.asInt(),
        timeMs == null ? 0 : timeMs.asLong(),
        sentences,
        figures,
        stages(stages),
        totals(totals));
  }

  private static Iterable<JsonNode> elements(JsonNode list) {
    return list == null || !list.isArray() ? List.of() : list;
  }

  private static Map<Integer, List<Long>> stages(JsonNode list) {
    Map<Integer, List<Long>> stages = new LinkedHashMap<>();
    for (JsonNode one : elements(list)) {
      if (one.path(0).isInt() && one.path(1).isNumber()) {
        stages.put(
            one.path(0).asInt(),
            List.of(one.path(1).asLong(), one.path(2).asLong(), one.path(3).asLong()));
      }
    }
    return stages;
  }

  private static List<Long> totals(JsonNode list) {
    return list != null && list.path(0).isNumber()
        ? List.of(list.path(0).asLong(), list.path(1).asLong(), list.path(2).asLong())
        : List.of();
  }

  private static Map<String, Object> figures(JsonNode one) {
    Map<String, Object> figures = new LinkedHashMap<>();
    for (int i = 1; i + 1 < one.size(); i += 2) {
      JsonNode value = one.get(i + 1);
      if (value.isNumber()) {
        figures.put(one.get(i).asText(), value.asLong());
      } else if (value.isTextual()) {
        figures.put(one.get(i).asText(), value.asText());
      }
    }
    return figures;
  }

  /** Version of the event's meaning. */
  @JsonProperty("schema")
  public int schema() {
    return schema;
  }

  /**
   * Time at which the figures were collected, in milliseconds since 1970; 0 when it is not known.
   */
  @JsonProperty("timeMs")
  public long timeMs() {
    return timeMs;
  }

  /** Sentences for the top of the page. */
  @JsonProperty("notes")
  public List<String> notes() {
    return notes;
  }

  /** The figures as they are in the log. */
  @JsonProperty("executors")
  public List<List<Object>> executors() {
    List<List<Object>> encoded = new ArrayList<>();
    figures.forEach(
        (executorId, values) -> {
          List<Object> one = new ArrayList<>();
          one.add(executorId);
          values.forEach(
              (name, value) -> {
                one.add(name);
                one.add(value);
              });
          encoded.add(one);
        });
    return encoded;
  }

  /** The stages as they are in the log. */
  @JsonProperty("stages")
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  public List<List<Long>> stages() {
    List<List<Long>> encoded = new ArrayList<>();
    stages.forEach(
        (stageId, bytes) ->
            encoded.add(List.of((long) stageId, bytes.get(0), bytes.get(1), bytes.get(2))));
    return encoded;
  }

  /** Bytes by READ, of these from copy pools, and by TCP; empty in most events. */
  @JsonProperty("totals")
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  public List<Long> totals() {
    return totals;
  }

  /** Figures by executor and name. Values are Long or String. */
  public Map<String, Map<String, Object>> figures() {
    return figures;
  }

  /**
   * Whether a later version of the plug-in wrote this, with a meaning that is not known here. No
   * name of a property: Jackson would write it.
   */
  public boolean hasLaterSchema() {
    return schema > SCHEMA;
  }
}
