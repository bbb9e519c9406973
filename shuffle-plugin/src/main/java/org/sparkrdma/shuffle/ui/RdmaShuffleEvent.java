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
 *   "stages": [[stage id, bytes by READ, of these from copy pools, bytes by TCP], ...]
 * </pre>
 *
 * <p>Stages have sums over all executors since the start; without any the property is absent. Names
 * are the labels of {@link org.sparkrdma.shuffle.metrics.Figure}. Event logs outlive the version
 * that wrote them: this class and its properties are never renamed, and a reader accepts any value,
 * because an exception would end the replay of the whole log. Immutable.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public final class RdmaShuffleEvent implements SparkListenerEvent {
  /** Changes when an earlier reader would misread the event. */
  static final int SCHEMA = 1;

  private final int schema;
  private final long timeMs;
  private final List<String> notes;
  private final Map<String, Map<String, Object>> figures;
  private final Map<Integer, BytesByPath> stages;

  /**
   * An event that keeps its parameters.
   *
   * @param schema {@link #SCHEMA} unless it was read from a log
   * @param figures by executor and name; values are Long or String
   * @param stages the sums of each stage
   */
  RdmaShuffleEvent(
      int schema,
      long timeMs,
      List<String> notes,
      Map<String, Map<String, Object>> figures,
      Map<Integer, BytesByPath> stages) {
    this.schema = schema;
    this.timeMs = timeMs;
    this.notes = notes;
    this.figures = figures;
    this.stages = stages;
  }

  /** Called by Jackson. Every parameter accepts any JSON; what is malformed is left out. */
  @JsonCreator
  static RdmaShuffleEvent read(
      @JsonProperty("schema") JsonNode schema,
      @JsonProperty("timeMs") JsonNode timeMs,
      @JsonProperty("notes") JsonNode notes,
      @JsonProperty("executors") JsonNode executors,
      @JsonProperty("stages") JsonNode stages) {
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
        stages(stages));
  }

  private static Iterable<JsonNode> elements(JsonNode list) {
    return list == null || !list.isArray() ? List.of() : list;
  }

  private static Map<Integer, BytesByPath> stages(JsonNode list) {
    Map<Integer, BytesByPath> stages = new LinkedHashMap<>();
    for (JsonNode one : elements(list)) {
      if (one.path(0).isInt() && one.path(1).isNumber()) {
        stages.put(
            one.path(0).asInt(),
            new BytesByPath(one.path(1).asLong(), one.path(2).asLong(), one.path(3).asLong(), 0));
      }
    }
    return stages;
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
            encoded.add(List.of((long) stageId, bytes.read(), bytes.copied(), bytes.tcp())));
    return encoded;
  }

  /** Figures by executor and name. Values are Long or String. */
  Map<String, Map<String, Object>> figures() {
    return figures;
  }

  /** Sums of stages by the id of the stage. */
  Map<Integer, BytesByPath> stageBytes() {
    return stages;
  }

  /**
   * Whether a later version of the plug-in wrote this, with a meaning that is not known here. No
   * name of a property: Jackson would write it.
   */
  boolean hasLaterSchema() {
    return schema > SCHEMA;
  }
}
