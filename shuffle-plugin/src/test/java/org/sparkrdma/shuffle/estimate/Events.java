// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.apache.spark.io.CompressionCodec;

/** Lines of an event log, in the form in which Spark's JsonProtocol writes them. */
final class Events {
  /** When the application starts. */
  static final long START_MS = 1_700_000_000_000L;

  private final List<String> lines = new ArrayList<>();

  private Events() {}

  /** A log of an application on executors with cores, without an end. */
  static Events of(String spark, String id, String attempt, int executors, int cores) {
    Events events = new Events();
    events.add("{'Event':'SparkListenerLogStart','Spark Version':'%s'}", spark);
    events.add(
        "{'Event':'SparkListenerEnvironmentUpdate','JVM Information':{},'Spark Properties':"
            + "{'spark.master':'yarn'},'System Properties':{}}");
    events.add(
        "{'Event':'SparkListenerApplicationStart','App Name':'job','App ID':'%s','Timestamp':%d,"
            + "'User':'u'%s}",
        id, START_MS, attempt.isEmpty() ? "" : ",'App Attempt ID':'" + attempt + "'");
    for (int i = 0; i < executors; i++) {
      events.executor(String.valueOf(i), cores, 0);
    }
    return events;
  }

  /** Adds a line; quotes may be single ones. */
  Events add(String line, Object... values) {
    lines.add(String.format(Locale.ROOT, line, values).replace('\'', '"'));
    return this;
  }

  Events executor(String id, int cores, int profile) {
    return add(
        "{'Event':'SparkListenerExecutorAdded','Timestamp':%d,'Executor ID':'%s','Executor Info':"
            + "{'Host':'h','Total Cores':%d,'Log Urls':{},'Resource Profile Id':%d}}",
        START_MS, id, cores, profile);
  }

  /** Settings, such as {@code 'spark.task.cpus':'2'}. */
  Events settings(String properties) {
    return add("{'Event':'SparkListenerEnvironmentUpdate','Spark Properties':{%s}}", properties);
  }

  Events job(int job, long startMs) {
    return add(
        "{'Event':'SparkListenerJobStart','Job ID':%d,'Submission Time':%d,'Stage Infos':"
            + "[{'Stage ID':0,'Details':'x'}],'Stage IDs':[0]}",
        job, START_MS + startMs);
  }

  Events jobEnd(int job, long endMs) {
    return add(
        "{'Event':'SparkListenerJobEnd','Job ID':%d,'Completion Time':%d,'Job Result':"
            + "{'Result':'JobSucceeded'}}",
        job, START_MS + endMs);
  }

  Events stage(int stage, int attempt) {
    return add(
        "{'Event':'SparkListenerStageSubmitted','Stage Info':{'Stage ID':%d,'Stage Attempt ID':%d,"
            + "'Stage Name':'s','Details':'d','Resource Profile Id':0}}",
        stage, attempt);
  }

  Events stageEnd(int stage, int attempt) {
    return add(
        "{'Event':'SparkListenerStageCompleted','Stage Info':{'Stage ID':%d,'Stage Attempt ID':%d,"
            + "'Stage Name':'s','Accumulables':[{'ID':1,'Value':[1,{'a':2}]}]}}",
        stage, attempt);
  }

  /** A task of stage 0 that reads shuffled blocks; times are milliseconds. */
  Events task(long launchMs, long durationMs, long waitMs, long blocks, long bytes) {
    return task(0, launchMs, durationMs, waitMs, blocks, bytes, ",'Push Based Shuffle':{}");
  }

  Events task(
      int stage,
      long launchMs,
      long durationMs,
      long waitMs,
      long blocks,
      long bytes,
      String more) {
    return add(
        "{'Event':'SparkListenerTaskEnd','Stage ID':%d,'Stage Attempt ID':0,'Task Type':"
            + "'ResultTask','Task End Reason':{'Reason':'Success'},'Task Info':{'Task ID':1,"
            + "'Index':0,'Attempt':0,'Partition ID':0,'Launch Time':%d,'Executor ID':'0','Host':"
            + "'h','Locality':'ANY','Speculative':false,'Getting Result Time':0,'Finish Time':%d,"
            + "'Failed':false,'Killed':false,'Accumulables':[{'ID':3,'Name':'x','Update':[{'Block"
            + " ID':'b'}]}]},'Task Executor Metrics':{'JVMHeapMemory':0},'Task Metrics':{'Executor"
            + " Deserialize Time':0,'Executor Deserialize CPU Time':0,'Executor Run Time':%d,"
            + "'Executor CPU Time':%d,'Shuffle Read Metrics':{'Remote Blocks Fetched':%d,'Local"
            + " Blocks Fetched':5,'Fetch Wait Time':%d,'Remote Bytes Read':%d,'Remote Bytes Read To"
            + " Disk':%d,'Local Bytes Read':9%s},'Updated Blocks':[]}}",
        stage,
        START_MS + launchMs,
        START_MS + launchMs + durationMs,
        durationMs,
        (durationMs - waitMs) * 1_000_000,
        blocks,
        waitMs,
        bytes,
        bytes / 2,
        more);
  }

  Events taskWithoutMetrics(long launchMs, long durationMs) {
    return add(
        "{'Event':'SparkListenerTaskEnd','Stage ID':0,'Stage Attempt ID':0,'Task Type':"
            + "'ResultTask','Task End Reason':{'Reason':'ExecutorLostFailure'},'Task Info':{'Launch"
            + " Time':%d,'Finish Time':%d,'Host':'h','Failed':true}}",
        START_MS + launchMs, START_MS + launchMs + durationMs);
  }

  Events end(long endMs) {
    return add("{'Event':'SparkListenerApplicationEnd','Timestamp':%d}", START_MS + endMs);
  }

  /** A job with one stage on two slots, which would take 16 in place of 20 s without waiting. */
  Events waitingJob() {
    return job(0, 0)
        .stage(0, 0)
        .task(0, 10_000, 4_000, 100, 400_000)
        .task(0, 10_000, 0, 100, 400_000)
        .task(10_000, 10_000, 0, 100, 400_000)
        .task(10_000, 10_000, 4_000, 100, 400_000)
        .stageEnd(0, 0)
        .jobEnd(0, 20_000);
  }

  List<String> lines() {
    return lines;
  }

  /** The log as bytes. */
  byte[] bytes() {
    return (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
  }

  /** The log as Spark's codec of a name compresses it. */
  byte[] bytes(CompressionCodec codec) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = codec.compressedOutputStream(bytes)) {
      out.write(bytes());
    }
    return bytes.toByteArray();
  }

  static SparkConf conf() {
    return new SparkConf(false);
  }
}
