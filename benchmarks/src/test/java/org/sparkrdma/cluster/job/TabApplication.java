// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster.job;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.LiveListenerBus;
import org.apache.spark.util.JsonProtocol;
import org.sparkrdma.shuffle.ui.FigureReceiver;

/**
 * An application whose executors and stages are events only, to look at its tab. Prints where its
 * UI is and its id, and ends when its standard input does.
 */
public final class TabApplication {
  private static final long MIB = 1L << 20;
  private static final long BLOCK_BYTES = 10 * MIB;
  private static final String REASON = "Container killed by YARN";

  /** The beginnings of a stage's events, with its id and name. */
  private static final String STAGE =
      """
      {"Stage Info": {"Stage ID": %s, "Stage Name": "%s", "RDD Info": [], "Number of Tasks": 1,
        "Submission Time": 1, "Completion Time": 5000}, "Event": "SparkListenerStage%s"}
      """;

  /** The events of a task, with its id, its executor, its bytes and its fetch wait. */
  private static final String TASK =
      """
      {"Stage ID": %1$s, "Stage Attempt ID": 0, "Task Type": "ResultTask",
       "Task End Reason": {"Reason": "Success"},
       "Task Info": {"Task ID": %1$s, "Index": 0, "Attempt": 0, "Launch Time": 1, "Host": "a",
         "Executor ID": "%2$s", "Locality": "ANY", "Getting Result Time": 0, "Finish Time": 4000,
         "Failed": false},
       "Task Metrics": {"Executor Deserialize Time": 1, "Executor Run Time": 3900,
         "Result Size": 1, "JVM GC Time": 1, "Result Serialization Time": 1,
         "Memory Bytes Spilled": 0, "Disk Bytes Spilled": 0,
         "Shuffle Read Metrics": {"Remote Blocks Fetched": 200, "Local Blocks Fetched": 9,
           "Remote Bytes Read": %3$s, "Local Bytes Read": 9000000, "Fetch Wait Time": %4$s}},
       "Event": "SparkListenerTask%5$s"}
      """;

  private TabApplication() {}

  /**
   * Runs it.
   *
   * @param arguments number of executors, number of stages
   */
  public static void main(String[] arguments) throws Exception {
    int executors = Integer.parseInt(arguments[0]);
    int stages = Integer.parseInt(arguments[1]);
    long[] read = new long[executors];
    long[] tcp = new long[executors];
    for (int i = 0; i < stages; i++) {
      read[i % executors] += readBytes(i, i % executors);
      tcp[i % executors] += tcpBytes(i, i % executors);
    }
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("orders"))) {
      FigureReceiver monitor =
          FigureReceiver.start(spark.sc(), Map::of, List.of(), id -> false).orElseThrow();
      LiveListenerBus bus = spark.sc().listenerBus();
      for (int i = 0; i < executors; i++) {
        String id = "'Timestamp': 1, 'Executor ID': '" + i + "'";
        String host = "worker-" + i + ".rack-7.cluster.example.org";
        String info = "'Executor Info': {'Host': '" + host + "', 'Total Cores': 8, 'Log Urls': {}}";
        post(bus, "{'Event': 'SparkListenerExecutorAdded', %s, %s}", id, info);
        monitor.report("" + i, hasRdma(i) ? withRdma(i, read[i], tcp[i]) : withoutRdma(tcp[i]));
        if (i % 7 == 6) {
          String removed = "'Removed Reason': '" + REASON + "'";
          post(bus, "{'Event': 'SparkListenerExecutorRemoved', %s, %s}", id, removed);
        }
      }
      for (int i = 0; i < stages; i++) {
        addStage(bus, monitor, i, i % executors);
      }
      bus.waitUntilEmpty();
      for (int i = 6; i < executors; i += 7) {
        monitor.end("" + i, REASON);
      }
      System.out.println(spark.sc().uiWebUrl().get() + " " + spark.sc().applicationId());
      while (System.in.read() >= 0) {}
    }
  }

  private static void post(LiveListenerBus bus, String event, Object... values) {
    bus.post(JsonProtocol.sparkEventFromJson(event.formatted(values).replace('\'', '"')));
  }

  private static boolean hasRdma(int executor) {
    return executor % 5 != 3;
  }

  /** Bytes that the task of a stage reads by RDMA. */
  private static long readBytes(int stage, int executor) {
    return hasRdma(executor) ? (900 + stage * 53L % 800) * MIB : 0;
  }

  /** Bytes that it fetches over TCP. */
  private static long tcpBytes(int stage, int executor) {
    long some = stage % 4 == 0 ? 0 : 100 * MIB;
    return hasRdma(executor) ? some : (900 + stage * 53L % 800) * MIB;
  }

  private static Map<String, Object> withoutRdma(long tcp) {
    String reason = "ibverbs: the limit of locked memory is 65536 bytes: raise it with ulimit -l";
    return Map.of("state", "off", "reasons", reason, "fallback.unavailable", tcp / BLOCK_BYTES);
  }

  private static Map<String, Object> withRdma(int id, long read, long tcp) {
    Map<String, Object> figures =
        new HashMap<>(Map.of("state", "up", "engine", "ibverbs", "device", "mlx5_0"));
    String addresses = "10.0.7.%1$d:40659, [fd00:0:0:0:0:0:7:%1$d]:44353";
    figures.put("addresses", addresses.formatted(id));
    figures.put("pinned", (200 + id % 70) * MIB);
    figures.put("highest", (300 + id % 90) * MIB);
    figures.put("limit", 1_024 * MIB);
    figures.put("connections", 4L + id % 50);
    figures.put("p50us", 12L + id % 9);
    figures.put("p99us", 90L + id % 40);
    figures.put("read", read);
    figures.put("tcp", tcp);
    figures.put("fallback.no-endpoint", tcp / BLOCK_BYTES);
    return figures;
  }

  /** A stage with one task, which reads blocks of other executors. */
  private static void addStage(LiveListenerBus bus, FigureReceiver monitor, int id, int executor) {
    long read = readBytes(id, executor);
    long tcp = tcpBytes(id, executor);
    String name = id % 2 == 0 ? "save at OrdersByRegion.scala:118" : "count at Orders.scala:97";
    long waitMs = 400 + id * 41L % 900;
    post(bus, STAGE, id, name, "Submitted");
    post(bus, TASK, id, executor, read + tcp, waitMs, "Start");
    post(bus, TASK, id, executor, read + tcp, waitMs, "End");
    post(bus, STAGE, id, name, "Completed");
    monitor.report("" + executor, Map.of("stages", List.of(id + 1L, (long) id, read, 0L, tcp)));
  }
}
