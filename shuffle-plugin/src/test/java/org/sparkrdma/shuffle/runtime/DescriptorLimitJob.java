// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.shuffle.ShuffleManager;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import scala.Tuple2;

/**
 * The driver of two executors whose limit of file descriptors or threads the launcher in its first
 * argument sets. Runs a job of several shuffles, whose tasks use {@link Mac} as user code does, and
 * prints its answer. With "plug-in" it then raises the limit of descriptors, and runs the job until
 * executors read by READ. The third argument has the local directories.
 */
final class DescriptorLimitJob {
  private static final int PARTITIONS = 12;
  private static final int RECORDS = 5_000;
  private static final int REPETITIONS = 200;

  private DescriptorLimitJob() {}

  /** Observation of a task of an executor. */
  private record Seen(String executor, long pid, long openFiles, long blocksRead)
      implements java.io.Serializable {}

  public static void main(String[] args) throws Exception {
    boolean withPlugIn = !args[1].equals("vanilla");
    boolean lifts = args[1].equals("plug-in");
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local-cluster[2,1,512]")
            .setAppName("descriptors")
            .set("spark.executor.memory", "512m")
            .set("spark.local.dir", args[2])
            .set("spark.ui.enabled", "false")
            .set("spark.master.rest.enabled", "false")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.shuffle.readHostLocalDisk", "false")
            .set("spark.executorEnv.JAVA_HOME", args[0])
            .set(
                "spark.executor.extraJavaOptions",
                "-XX:-MaxFDLimit -XX:+UseSerialGC -XX:TieredStopAtLevel=1")
            .set("spark.shuffle.manager", withPlugIn ? RdmaShuffleManager.class.getName() : "sort")
            .set("spark.shuffle.rdma.engine", "soft");
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      System.out.println("answer=" + answer(spark));
      Map<String, Seen> seen = executors(spark);
      System.out.println("first executors=" + seen);
      if (lifts) {
        for (Seen each : seen.values()) {
          String pid = Long.toString(each.pid);
          new ProcessBuilder("prlimit", "--pid", pid, "--nofile=4096:").start().waitFor();
        }
        int repetitions = 0;
        while (repetitions < REPETITIONS
            && seen.values().stream().noneMatch(each -> each.blocksRead > 0)) {
          repetitions++;
          System.out.println("again=" + answer(spark));
          seen = executors(spark);
        }
        System.out.println("lifted executors=" + seen);
        boolean back = seen.values().stream().anyMatch(each -> each.blocksRead > 0);
        System.out.println("back=" + back);
      }
    }
  }

  private static List<Tuple2<Integer, Long>> answer(JavaSparkContext spark) {
    List<Integer> numbers = IntStream.range(0, RECORDS).boxed().toList();
    Map<Integer, Long> sums =
        new TreeMap<>(
            spark
                .parallelize(numbers, PARTITIONS)
                .mapToPair(i -> new Tuple2<>(i % 97, authenticated(i)))
                .groupByKey(PARTITIONS)
                .mapToPair(
                    group -> {
                      long sum = 0;
                      for (long each : group._2()) {
                        sum += each;
                      }
                      return new Tuple2<>(group._1() % 7, sum + authenticated(group._1()));
                    })
                .reduceByKey(Long::sum, PARTITIONS)
                .collectAsMap());
    List<Tuple2<Integer, Long>> answer = new ArrayList<>();
    sums.forEach((key, sum) -> answer.add(new Tuple2<>(key, sum)));
    return answer;
  }

  private static long authenticated(int number) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(new byte[] {1}, "HmacSHA256"));
    return mac.doFinal(new byte[] {(byte) number})[0];
  }

  /** Asks until both executors have answered, at most so often. */
  private static Map<String, Seen> executors(JavaSparkContext spark) {
    Map<String, Seen> all = new HashMap<>();
    Set<Integer> questions = new HashSet<>();
    while (all.size() < 2 && questions.size() < REPETITIONS) {
      questions.add(questions.size());
      spark
          .parallelize(List.of(1, 2, 3, 4), 4)
          .map(i -> seen())
          .collect()
          .forEach(each -> all.put(each.executor, each));
    }
    return all;
  }

  private static Seen seen() {
    String[] open = new File("/proc/self/fd").list();
    ShuffleManager manager = SparkEnv.get().shuffleManager();
    long read =
        manager instanceof RdmaShuffleManager rdma
            ? rdma.counters().getOrDefault("rdma.blocks.read", 0L)
            : 0;
    return new Seen(
        SparkEnv.get().executorId(),
        ProcessHandle.current().pid(),
        open == null ? -1 : open.length,
        read);
  }
}
