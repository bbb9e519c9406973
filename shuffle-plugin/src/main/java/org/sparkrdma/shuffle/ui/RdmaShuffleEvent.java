// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.sparkrdma.shuffle.figures.Changes;
import org.sparkrdma.shuffle.figures.SparkExecutor;
import org.sparkrdma.shuffle.figures.StageBytes;

/**
 * The figures that have changed since the last such event, in the event log:
 *
 * <pre>
 *   "schema": 1, "timeMs": milliseconds since 1970,
 *   "notes": [text, ...],
 *   "executors": [[executor id, name, value, name, value, ...], ...],
 *   "spark": [[executor id, host, remote bytes, local bytes, reason of its removal], ...],
 *   "stages": [[stage id, bytes by READ, of these copied, bytes by TCP,
 *               remote bytes, local bytes], ...],
 *   "totals": [[name, value, name, value, ...]]
 * </pre>
 *
 * <p>Remote and local bytes are those of Spark's own events, which a compacted log has dropped;
 * sums since the start, as those of stages are. A reason is there only of a removed executor.
 * Without any element "spark", "stages" and "totals" are absent; with "totals", which are of the
 * whole application, all others are empty. Names are the labels of {@link
 * org.sparkrdma.shuffle.metrics.Figure}. Event logs outlive the version that wrote them: this class
 * and its properties are never renamed, and a reader accepts any value, because an exception would
 * end the replay of the whole log. Immutable.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public final class RdmaShuffleEvent implements SparkListenerEvent {
  /** Changes when an earlier reader would misread the event. */
  static final int SCHEMA = 1;

  /**
   * Version of the event's meaning; larger than {@link #SCHEMA} of a later version of the plug-in.
   */
  @JsonProperty final int schema;

  /** What it shows. */
  @JsonIgnore final Changes changes;

  /**
   * An event that keeps its parameters.
   *
   * @param schema {@link #SCHEMA} unless it was read from a log
   */
  RdmaShuffleEvent(int schema, Changes changes) {
    this.schema = schema;
    this.changes = changes;
  }

  /** Called by Jackson. Every parameter accepts any JSON; what is malformed is left out. */
  @JsonCreator
  static RdmaShuffleEvent read(
      @JsonProperty("schema") JsonNode schema,
      @JsonProperty("timeMs") JsonNode timeMs,
      @JsonProperty("notes") JsonNode notes,
      @JsonProperty("executors") JsonNode executors,
      @JsonProperty("spark") JsonNode spark,
      @JsonProperty("stages") JsonNode stages,
      @JsonProperty("totals") JsonNode totals) {
    List<String> sentences = new ArrayList<>();
    elements(notes).forEach(note -> sentences.add(note.asText()));
    Map<String, Map<String, Object>> figures = new LinkedHashMap<>();
    for (JsonNode one : elements(executors)) {
      if (one.path(0).isTextual()) {
        figures.put(one.path(0).asText(), figures(one, 1));
      }
    }
    return new RdmaShuffleEvent(
        schema == null ? 0 : schema.asInt(),
        new Changes(
            timeMs == null ? 0 : timeMs.asLong(),
            sentences,
            figures,
            sparkExecutors(spark),
            stages(stages),
            totals(totals)));
  }

  private static Map<String, Object> totals(JsonNode list) {
    Map<String, Object> totals = new LinkedHashMap<>();
    elements(list).forEach(one -> totals.putAll(figures(one, 0)));
    return totals;
  }

  private static Iterable<JsonNode> elements(JsonNode list) {
    return list == null || !list.isArray() ? List.of() : list;
  }

  private static Map<String, SparkExecutor> sparkExecutors(JsonNode list) {
    Map<String, SparkExecutor> executors = new LinkedHashMap<>();
    for (JsonNode one : elements(list)) {
      if (one.path(0).isTextual() && one.path(1).isTextual()) {
        executors.put(
            one.path(0).asText(),
            new SparkExecutor(
                one.path(1).asText(),
                one.path(2).asLong(),
                one.path(3).asLong(),
                one.path(4).isTextual() ? one.path(4).asText() : null));
      }
    }
    return executors;
  }

  private static List<StageBytes> stages(JsonNode list) {
    List<StageBytes> stages = new ArrayList<>();
    for (JsonNode one : elements(list)) {
      if (one.path(0).isInt() && one.path(1).isNumber()) {
        stages.add(
            new StageBytes(
                one.path(0).asInt(),
                one.path(4).asLong(),
                one.path(5).asLong(),
                one.path(1).asLong(),
                one.path(2).asLong(),
                one.path(3).asLong()));
      }
    }
    return stages;
  }

  private static Map<String, Object> figures(JsonNode one, int first) {
    Map<String, Object> figures = new LinkedHashMap<>();
    for (int i = first; i + 1 < one.size() && one.get(i).isTextual(); i += 2) {
      JsonNode value = one.get(i + 1);
      if (value.isNumber()) {
        figures.put(one.get(i).asText(), value.asLong());
      } else if (value.isTextual()) {
        figures.put(one.get(i).asText(), value.asText());
      }
    }
    return figures;
  }

  /** When the figures were collected, in milliseconds since 1970; 0 when it is not known. */
  @JsonProperty("timeMs")
  public long timeMs() {
    return changes.timeMs();
  }

  /** Sentences for the top of the page. */
  @JsonProperty("notes")
  public List<String> notes() {
    return changes.notes();
  }

  /** The figures as they are in the log. */
  @JsonProperty("executors")
  public List<List<Object>> executors() {
    List<List<Object>> encoded = new ArrayList<>();
    changes
        .figures()
        .forEach(
            (executorId, values) -> {
              List<Object> one = new ArrayList<>(List.of(executorId));
              values.forEach((name, value) -> Collections.addAll(one, name, value));
              encoded.add(one);
            });
    return encoded;
  }

  /** The sums as they are in the log. */
  @JsonProperty("totals")
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  public List<List<Object>> totals() {
    List<Object> encoded = new ArrayList<>();
    changes.totals().forEach((name, value) -> Collections.addAll(encoded, name, value));
    return encoded.isEmpty() ? List.of() : List.of(encoded);
  }

  /** The facts of Spark about executors as they are in the log. */
  @JsonProperty("spark")
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  public List<List<Object>> spark() {
    List<List<Object>> encoded = new ArrayList<>();
    changes
        .sparkExecutors()
        .forEach(
            (executorId, known) -> {
              List<Object> one =
                  new ArrayList<>(List.of(executorId, known.host(), known.remote(), known.local()));
              if (known.removed() != null) {
                one.add(known.removed());
              }
              encoded.add(one);
            });
    return encoded;
  }

  /** The stages as they are in the log. */
  @JsonProperty("stages")
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  public List<List<Long>> stages() {
    return changes.stages().stream()
        .map(
            one ->
                List.of(
                    (long) one.stageId(),
                    one.read(),
                    one.copied(),
                    one.tcp(),
                    one.remote(),
                    one.local()))
        .toList();
  }
}
