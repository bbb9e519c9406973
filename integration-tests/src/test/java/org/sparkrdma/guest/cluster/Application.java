// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.tera.ExecutorUsage;
import org.sparkrdma.benchmarks.transfer.TransferApplication;
import org.sparkrdma.scenarios.SparkInternals;
import scala.Function1;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;

/** One Spark application and its steps; of the driver's main thread, which closes it. */
final class Application implements AutoCloseable {
  private static final int EXECUTORS = 2;
  private static final List<Integer> TRANSFER_BLOCKS = List.of(64 << 10, 1 << 20);
  private static final int TRANSFER_ROUNDS = 3;
  private static final long TRANSFER_BYTES = 32L << 20;
  private static final int WARM_UPS = 5;
  private static final String READ = "rdma.bytes.read";
  private static final String FALLBACK = "fallback.";

  private final String name;
  private final Path share;
  private final Path answers;
  private final HostControl host;
  private final JavaSparkContext spark;
  private final TaskLog tasks = new TaskLog();

  /**
   * @param share where results go
   * @param answers what {@link VanillaSpark} has left
   */
  Application(String name, SparkConf conf, Path share, Path answers, HostControl host)
      throws Exception {
    this.name = name;
    this.share = share;
    this.answers = answers;
    this.host = host;
    spark = new JavaSparkContext(conf.setAppName(name));
    spark.sc().addSparkListener(tasks);
    SparkInternals.awaitExecutors(spark.sc(), EXECUTORS);
  }

  /**
   * Shuffles, not counted, until nothing goes by TCP, or a few times: on kernels that have just
   * booted the first connection, with all that is loaded for it, may take longer than it may.
   */
  void warmUp() throws Exception {
    awaitExecutors();
    long before = fallbacks();
    for (int i = 0; i < WARM_UPS; i++) {
      blocks();
      long after = fallbacks();
      if (after == before) {
        return;
      }
      before = after;
    }
  }

  private long fallbacks() {
    return counters().entrySet().stream()
        .filter(counter -> counter.getKey().startsWith(FALLBACK))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  void tera(String step) throws Exception {
    awaitExecutors();
    step(step, this::tera, Answers.tera(answers), true);
  }

  void blocks(String step) throws Exception {
    awaitExecutors();
    step(step, this::blocks, Answers.blocks(answers), true);
  }

  /** While the wires are so. */
  void blocksUnder(String step, String rule) throws Exception {
    host.ask("netem " + rule);
    blocks(step);
    host.ask("netem off");
  }

  /** With something that happens on the host when the first reader starts. */
  void blocksFromTheStartUnder(String step, String request) throws Exception {
    awaitExecutors();
    tasks.atReaderStart(() -> ask(request));
    step(step, this::blocks, Answers.blocks(answers), true);
  }

  /** With something that happens on the host when the first reader has ended. */
  void blocksDuring(String step, String request) throws Exception {
    awaitExecutors();
    tasks.atReaderEnd(() -> ask(request));
    step(step, this::blocks, Answers.blocks(answers), true);
  }

  /** From now on what is read is still on its way when something happens. */
  void slowWires() throws IOException {
    host.ask("netem delay 20ms");
  }

  /** As {@link #blocksDuring}, but an executor is lost, and with it what it had counted. */
  void blocksWithLossDuring(String step, String request) throws Exception {
    awaitExecutors();
    tasks.atReaderEnd(() -> ask(request));
    step(step, this::blocks, Answers.blocks(answers), false);
  }

  /** Block transfer against Spark's own, over the same wire. */
  void transfer() throws IOException {
    HostControl.put(
        share,
        name + ".cases",
        TransferApplication.compareMachines(
            spark, "ibverbs", TRANSFER_BLOCKS, TRANSFER_ROUNDS, TRANSFER_BYTES));
  }

  private void ask(String request) {
    try {
      host.ask(request);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String tera() throws Exception {
    return Tera.sort(spark, Answers.input(answers), share.resolve(name + "-" + System.nanoTime()));
  }

  private String blocks() {
    return Blocks.shuffle(spark);
  }

  private void step(String step, Callable<String> work, Path answer, boolean counted)
      throws Exception {
    Map<String, Long> before = counted ? counters() : Map.of();
    long remoteBefore = tasks.remoteBytesRead();
    int failedBefore = tasks.failedTasks();
    long start = System.nanoTime();
    String result = work.call();
    double seconds = (System.nanoTime() - start) / 1e9;
    SparkInternals.drainListeners(spark.sc());
    Map<String, Long> traffic = counted ? counters() : new TreeMap<>(Map.of(READ, -1L));
    before.forEach((counter, count) -> traffic.merge(counter, -count, Long::sum));
    Map<String, Long> fallbacks = new TreeMap<>();
    traffic.forEach(
        (counter, count) -> {
          if (counter.startsWith(FALLBACK) && count > 0) {
            fallbacks.put(counter.substring(FALLBACK.length()), count);
          }
        });
    write(
        new StepResult(
            name,
            step,
            result.equals(Files.readString(answer)),
            seconds,
            traffic.getOrDefault(READ, 0L),
            traffic.getOrDefault("tcp.bytes.read", 0L),
            tasks.remoteBytesRead() - remoteBefore,
            fallbacks,
            tasks.failedTasks() - failedBefore));
  }

  /**
   * Ends when all executors have had tasks at the same time: one that was lost in the step before
   * is replaced, and may for a while be known and dead.
   */
  private void awaitExecutors() throws Exception {
    SparkInternals.awaitExecutors(spark.sc(), EXECUTORS);
    spark
        .parallelize(List.of(0, 1), EXECUTORS)
        .rdd()
        .barrier()
        .mapPartitions(
            (Function1<Iterator<Integer>, Iterator<Integer>> & Serializable) items -> items,
            false,
            ClassTag$.MODULE$.apply(Integer.class))
        .count();
    // Else the end of one of these tasks is told later and taken for the next reader's.
    SparkInternals.drainListeners(spark.sc());
  }

  private void write(StepResult result) throws IOException {
    String json = new ObjectMapper().writeValueAsString(result);
    System.out.println(json);
    HostControl.put(share, name + "-" + result.step() + ".json", json);
  }

  /** Summed over both executors. */
  private Map<String, Long> counters() {
    Map<String, Long> sums = new TreeMap<>();
    for (ExecutorUsage one : ExecutorUsage.ofAll(spark, EXECUTORS).values()) {
      one.counters().forEach((counter, count) -> sums.merge(counter, count, Long::sum));
    }
    return sums;
  }

  @Override
  public void close() {
    spark.close();
  }
}
