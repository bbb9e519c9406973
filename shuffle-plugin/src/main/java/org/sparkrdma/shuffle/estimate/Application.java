// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.estimate.Estimation.Verdict;
import org.sparkrdma.shuffle.estimate.Stage.Interval;
import org.sparkrdma.shuffle.estimate.Stage.Saving;

/**
 * One attempt of an application, as the events of its log add up. Their fields have the names that
 * Spark's JsonProtocol writes (not those that 3.5 asks for: it writes "Push Based Shuffle" and
 * reads another name); absent ones are 0. Tasks are kept until their stage ends. Confined to one
 * thread.
 */
final class Application {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Stages that a note names. */
  private static final int MAX_NAMED = 5;

  /** What is needed of the start of a job; all stages that it comes from are passed over. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  private record JobStart(
      @JsonProperty("Job ID") long id, @JsonProperty("Submission Time") long startMs) {}

  private final CostTable costs;
  private final double linkBytesPerSecond;
  private final Map<String, Integer> coresOfExecutors = new HashMap<>();
  private final Map<String, Stage> openStages = new HashMap<>();
  private final Set<String> endedStages = new HashSet<>();
  private final List<Saving> savings = new ArrayList<>();

  /** By number; one that has not ended has no end yet. */
  private final Map<Long, Interval> jobs = new HashMap<>();

  private final Map<String, Integer> withoutMetrics = new TreeMap<>();

  /** The event with its name; missing until it is read. */
  private JsonNode start = MissingNode.getInstance();

  private JsonNode settings = MissingNode.getInstance();
  private String spark = "";
  private boolean ended;
  private boolean eventOfPlugIn;
  private long events;
  private long unreadable;
  private long tasks;
  private long runMs;
  private long waitMs;
  private long blocks;
  private long bytes;
  private long mergedBytes;
  private long localBytes;
  private double registered;
  private double copies;

  /**
   * @param linkBytesPerSecond what the network of a host carries; infinite if unknown
   */
  Application(CostTable costs, double linkBytesPerSecond) {
    this.costs = costs;
    this.linkBytesPerSecond = linkBytesPerSecond;
  }

  /** Number of lines that were events. */
  long events() {
    return events;
  }

  /** Reads a file of the log to its last whole line. Why it is not whole; "" if it may be. */
  String read(EventLines lines) {
    for (String event = lines.next(); event != null; event = lines.next()) {
      events += event.isEmpty() ? 0 : 1;
      try {
        add(event, lines);
      } catch (IOException e) {
        unreadable++;
      }
    }
    return lines.failure();
  }

  /** Most events are passed over without being parsed. */
  private void add(String event, EventLines line) throws IOException {
    switch (event) {
      case "SparkListenerLogStart" -> spark = text(JSON.readTree(line).path("Spark Version"));
      case "SparkListenerApplicationStart" -> start = JSON.readTree(line);
      case "SparkListenerApplicationEnd" -> ended = true;
      case "SparkListenerEnvironmentUpdate" ->
          settings = JSON.readTree(line).path("Spark Properties");
      case "SparkListenerExecutorAdded" -> {
        JsonNode of = JSON.readTree(line);
        int cores = of.path("Executor Info").path("Total Cores").asInt();
        coresOfExecutors.put(of.path("Executor ID").asText(), cores);
        openStages.values().forEach(this::count);
      }
      case "SparkListenerExecutorRemoved" ->
          coresOfExecutors.remove(JSON.readTree(line).path("Executor ID").asText());
      case "SparkListenerJobStart" -> {
        JobStart job = JSON.readValue(line, JobStart.class);
        jobs.put(job.id(), new Interval(job.startMs(), Long.MAX_VALUE));
      }
      case "SparkListenerJobEnd" -> {
        JsonNode of = JSON.readTree(line);
        long endMs = of.path("Completion Time").asLong();
        jobs.computeIfPresent(
            of.path("Job ID").asLong(), (any, job) -> new Interval(job.startMs(), endMs));
      }
      case "SparkListenerStageCompleted" -> {
        String key = key(JSON.readTree(line).path("Stage Info"));
        endedStages.add(key);
        Stage stage = openStages.remove(key);
        if (stage != null) {
          savings.add(stage.saving());
        }
      }
      case "SparkListenerTaskEnd" -> task(JSON.readTree(line));
      default -> eventOfPlugIn |= event.startsWith("org.sparkrdma.");
    }
  }

  /** Without characters that control a terminal: anyone may write to the directory of logs. */
  private static String text(JsonNode of) {
    return of.asText().replaceAll("\\p{Cc}", "?");
  }

  private static String key(JsonNode stage) {
    return stage.path("Stage ID").asInt() + "." + stage.path("Stage Attempt ID").asInt();
  }

  private void task(JsonNode of) {
    JsonNode info = of.path("Task Info");
    JsonNode metrics = of.path("Task Metrics");
    JsonNode read = metrics.path("Shuffle Read Metrics");
    JsonNode merged = read.path("Push Based Shuffle");
    long launchMs = info.path("Launch Time").asLong();
    long allBytes = read.path("Remote Bytes Read").asLong();
    // Merged blocks are among the remote ones; the plug-in leaves them to TCP.
    long ownBytes = Math.max(0, allBytes - merged.path("Merged Remote Bytes Read").asLong());
    long mergedBlocks = merged.path("Merged Remote Blocks Fetched").asLong();
    Stage.Task task =
        new Stage.Task(
            launchMs,
            Math.max(0, info.path("Finish Time").asLong() - launchMs),
            info.path("Host").asText(),
            metrics.path("Executor CPU Time").asLong()
                + metrics.path("Executor Deserialize CPU Time").asLong(),
            allBytes > 0 ? read.path("Fetch Wait Time").asLong() : 0,
            allBytes,
            ownBytes,
            Math.max(0, read.path("Remote Blocks Fetched").asLong() - mergedBlocks));
    tasks++;
    runMs += metrics.path("Executor Run Time").asLong();
    waitMs += task.waitMs();
    blocks += task.blocks();
    bytes += task.bytes();
    localBytes += read.path("Local Bytes Read").asLong();
    mergedBytes += allBytes - ownBytes;
    registered += task.savedCpuSeconds(costs, false);
    copies += task.savedCpuSeconds(costs, true);
    String stage = key(of);
    if (metrics.isMissingNode()) {
      withoutMetrics.merge("stage " + stage, 1, Integer::sum);
    }
    // Of a stage that has ended, tasks may still end that nobody waits for.
    if (launchMs > 0 && !endedStages.contains(stage)) {
      openStages
          .computeIfAbsent(stage, absent -> count(new Stage(costs, linkBytesPerSecond)))
          .add(task);
    }
  }

  /** Tells a stage what executors have. */
  private Stage count(Stage stage) {
    int taskCpus = Math.max(1, settings.path("spark.task.cpus").asInt());
    int slots = coresOfExecutors.values().stream().mapToInt(cores -> cores / taskCpus).sum();
    int cores = coresOfExecutors.values().stream().mapToInt(Integer::intValue).sum();
    stage.executors(slots, cores);
    return stage;
  }

  private double sum(ToDoubleFunction<Saving> part) {
    return savings.stream().mapToDouble(part).sum();
  }

  private static long coveredMs(Stream<Interval> intervals) {
    long covered = 0;
    long until = Long.MIN_VALUE;
    for (Interval one : intervals.sorted(Comparator.comparingLong(Interval::startMs)).toList()) {
      covered += Math.max(0, one.endMs() - Math.max(until, one.startMs()));
      until = Math.max(until, one.endMs());
    }
    return covered;
  }

  private Stream<Interval> endedJobs() {
    return jobs.values().stream().filter(job -> job.endMs() < Long.MAX_VALUE);
  }

  /**
   * The estimate at the end of the log, which ends all that is still open.
   *
   * @param incomplete why events are missing before that; "" if none is known to be
   * @param cutOff why a file of the log is not whole; "" if all are
   */
  Estimation estimate(EventLog log, String incomplete, String cutOff) {
    openStages.values().forEach(stage -> savings.add(stage.saving()));
    double coveredMs = coveredMs(savings.stream().map(Saving::interval));
    // Spark may have dropped the start or the end of a job, of which only the stages count then.
    Stream<Interval> stages = savings.stream().map(Saving::interval);
    double timeMs = Math.max(1, coveredMs(Stream.concat(endedJobs(), stages)));
    // Of stages at the same time, all share the cores, but only one may be what others wait for.
    double spansMs = sum(one -> one.interval().endMs() - one.interval().startMs());
    double mean = coveredMs / Math.max(1, spansMs);
    double waitingMs = sum(Saving::waitingMost);
    double high = Math.min(1, (waitingMs + sum(Saving::cpuHigh)) / timeMs);
    double likelyMs = sum(Saving::waitingLikely) * mean + sum(Saving::cpuLikely);
    double likely = Math.min(high, likelyMs / timeMs);
    double fetchWaitShare = (double) waitMs / Math.max(1, runMs);
    String noVerdict = noVerdict(incomplete);
    Verdict verdict = noVerdict.isEmpty() ? Verdict.of(likely, high) : Verdict.NONE;
    String waiting = ": tasks wait " + Report.percent(fetchWaitShare) + " of their time";
    String saved = Report.percent(likely) + " is likely saved, and at most " + Report.percent(high);
    String figures = waiting + "; of the time of jobs, " + saved;
    String reason = blocks == 0 ? ": no block came from another executor" : figures;
    return new Estimation(
        start.has("App ID") ? text(start.path("App ID")) : log.name(),
        text(start.path("App Attempt ID")),
        text(start.path("App Name")),
        log.path(),
        spark,
        verdict,
        noVerdict.isEmpty() ? verdict + reason : noVerdict,
        timeMs / 1e3,
        tasks,
        bytes,
        blocks,
        (double) bytes / Math.max(1, blocks),
        fetchWaitShare,
        shown(verdict, registered),
        shown(verdict, copies),
        shown(verdict, Math.min(1, waitingMs / timeMs)),
        shown(verdict, Math.min(1, sum(Saving::floor) * mean / timeMs)),
        shown(verdict, Math.min(likely, sum(Saving::cpuLow) / timeMs)),
        shown(verdict, likely),
        shown(verdict, high),
        notes(cutOff));
  }

  private static Double shown(Verdict verdict, double figure) {
    return verdict == Verdict.NONE ? null : figure;
  }

  private String noVerdict(String incomplete) {
    String manager = text(settings.path("spark.shuffle.manager"));
    String classes = manager + settings.path("spark.plugins").asText();
    // Off, it leaves all to Spark's own transfer, as in the baseline of a pilot.
    boolean off = settings.path("spark.shuffle.rdma.mode").asText().equalsIgnoreCase("off");
    if ((eventOfPlugIn || classes.contains("org.sparkrdma.")) && !off) {
      return "not estimated, because it ran with this plug-in";
    }
    boolean ucx = settings.path("spark.rapids.shuffle.mode").asText().equalsIgnoreCase("ucx");
    if (manager.endsWith("RapidsShuffleManager") && ucx) {
      return "no verdict: blocks were fetched by UCX and not by Spark's own transfer";
    }
    // Other managers have a transfer of their own.
    if (!manager.contains("org.sparkrdma.")
        && !manager.matches("|(tungsten-)?sort|.*(Sort|Comet|Columnar|Rapids)ShuffleManager")) {
      return "no verdict: blocks were fetched by " + manager + " and not by Spark's own transfer";
    }
    if (!incomplete.isEmpty() || start.isMissingNode()) {
      String missing = incomplete.isEmpty() ? "because its start is missing" : incomplete;
      return "no verdict: the log is incomplete, " + missing;
    }
    return tasks == 0 ? "no verdict: no task has ended" : "";
  }

  private List<String> notes(String cutOff) {
    List<String> notes = new ArrayList<>();
    if (!cutOff.isEmpty()) {
      notes.add("the log is cut off and was read to its last whole line (" + cutOff + ")");
    } else if (!ended) {
      notes.add("the application still runs, or has ended without a last event");
    }
    if (unreadable > 0) {
      notes.add("lines that could not be read: " + unreadable);
    }
    if (!withoutMetrics.isEmpty()) {
      int all = withoutMetrics.values().stream().mapToInt(Integer::intValue).sum();
      boolean few = withoutMetrics.size() <= MAX_NAMED;
      notes.add(
          "tasks without metrics count as if they had not waited: "
              + (few ? withoutMetrics : all + " in " + withoutMetrics.size() + " stages"));
    }
    long open = jobs.size() - endedJobs().count();
    if (ended && open > 0) {
      notes.add("jobs whose end is missing: " + open + "; of these only the stages count");
    }
    if (mergedBytes > 0) {
      notes.add(Report.bytes(mergedBytes) + " in merged blocks (push-based shuffle) save nothing");
    }
    if (settings.path("spark.shuffle.service.enabled").asText().equals("true")) {
      notes.add("the CPU times are too good: a shuffle service spends less of them for a block");
    }
    if (spark.matches("([0-3]|4[.]0)[.].*")) {
      notes.add("until Spark 4.0, waiting lacks the time to connect and to ask (SPARK-54536)");
    } else if (localBytes > bytes && waitMs > 0) {
      notes.add("since Spark 4.1, waiting includes reading the blocks of the same host");
    }
    return notes;
  }
}
