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
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.ExecutorUsage;
import org.sparkrdma.benchmarks.transfer.TransferPlan;
import org.sparkrdma.scenarios.SparkInternals;
import scala.Function1;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;

/** One Spark application and its steps. Confined to the driver's main thread, which closes it. */
final class Application implements AutoCloseable {
  private static final int EXECUTORS = 2;
  private static final List<Integer> TRANSFER_BLOCKS = List.of(64 << 10, 1 << 20);
  private static final int TRANSFER_ROUNDS = 3;
  private static final long TRANSFER_BYTES = 32L << 20;
  private static final int WARM_UPS = 5;
  private static final String READ = "rdma.bytes.read";
  private static final String FALLBACK = "fallback.";
  private static final String ESTABLISHED = "connections.established";
  private static final long IN_BACKGROUND_NS = 30_000_000_000L;
  private static final long RETURN_NS = 150_000_000_000L;
  private static final long PAUSE_NS = 200_000_000;

  private final String name;
  private final Path share;
  private final Path answers;
  private final HostControl host;
  private final JavaSparkContext spark;
  private final TaskLog tasks = new TaskLog();

  /**
   * @param share directory of the results
   * @param answers directory of {@link VanillaSpark}
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
   * Shuffles without counting until no block uses TCP, at most a few times: on a kernel that has
   * just booted the first connection, with its class loading, may exceed the time-out.
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

  /** Runs with a netem rule on the wires. */
  void blocksUnder(String step, String rule) throws Exception {
    host.ask("netem " + rule);
    blocks(step);
    host.ask("netem off");
  }

  /** Runs a request on the host when the first reader starts. */
  void blocksFromTheStartUnder(String step, String request) throws Exception {
    awaitExecutors();
    tasks.atReaderStart(() -> ask(request));
    step(step, this::blocks, Answers.blocks(answers), true);
  }

  /** Runs a request on the host when the first reader has ended. */
  void blocksDuring(String step, String request) throws Exception {
    awaitExecutors();
    tasks.atReaderEnd(() -> ask(request));
    step(step, this::blocks, Answers.blocks(answers), true);
  }

  /**
   * Loses messages of the set-up of the first connection, which a single reader needs. No other
   * connection is wanted until it is established, in the background. The readers of the step
   * "later" use it in both directions.
   *
   * @param request to the host: which messages
   */
  void firstConnectionUnder(String request) throws Exception {
    awaitExecutors();
    String lines = Files.readString(Answers.blocks(answers));
    host.ask(request);
    step("lost", () -> Blocks.shuffleToOneReader(spark), Blocks.ofOneReader(lines), true);
    long start = System.nanoTime();
    // Each executor has counted both ends of its connection to itself.
    while (counters().getOrDefault(ESTABLISHED, 0L) <= 2 * EXECUTORS
        && System.nanoTime() - start < IN_BACKGROUND_NS) {
      LockSupport.parkNanos(PAUSE_NS);
    }
    step("later", this::blocks, lines, true);
  }

  /**
   * Runs a script of the host when the first reader starts, and another one after the job. Then
   * repeats the job until all bytes come by READ; the last repetition is the step "later".
   */
  void blocksUnderFault(String fault, String repair) throws Exception {
    blocksFromTheStartUnder("blocks", "script " + fault);
    host.ask("script " + repair);
    long start = System.nanoTime();
    StepResult later;
    do {
      awaitExecutors();
      later = step("later", this::blocks, Files.readString(Answers.blocks(answers)), true);
    } while (later.rdmaBytes() < later.remoteBytesRead() && System.nanoTime() - start < RETURN_NS);
  }

  /** Delays packets from now on, so that READs are in flight when a fault happens. */
  void slowWires() throws IOException {
    host.ask("netem delay 20ms");
  }

  /** Same as {@link #blocksDuring}, but an executor and its counters are lost. */
  void blocksWithLossDuring(String step, String request) throws Exception {
    awaitExecutors();
    tasks.atReaderEnd(() -> ask(request));
    step(step, this::blocks, Answers.blocks(answers), false);
  }

  /** Block transfer compared with Spark's own, over the same wire. */
  void transfer() throws Exception {
    HostControl.put(
        share,
        name + ".cases",
        TransferPlan.compareMachines(
            spark, "ibverbs", TRANSFER_BLOCKS, TRANSFER_ROUNDS, TRANSFER_BYTES));
  }

  /** Broadcasts some values, and writes how many bytes of pieces were READ. */
  void broadcasts() throws Exception {
    awaitExecutors();
    for (int i = 0; i < WARM_UPS; i++) {
      int seed = i;
      String answer = BroadcastValues.expected(seed);
      step("value" + i, () -> BroadcastValues.sums(spark, seed), answer, true);
    }
    HostControl.put(share, name + ".copied", counters().get("serve.bytes.copy").toString());
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
    step(step, work, Files.readString(answer), counted);
  }

  private StepResult step(String step, Callable<String> work, String answer, boolean counted)
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
    StepResult made =
        new StepResult(
            name,
            step,
            result.equals(answer),
            seconds,
            traffic.getOrDefault(READ, 0L),
            traffic.getOrDefault("tcp.bytes.read", 0L),
            tasks.remoteBytesRead() - remoteBefore,
            fallbacks,
            tasks.failedTasks() - failedBefore);
    write(made);
    return made;
  }

  /**
   * Waits until all executors run tasks at the same time: a lost executor is replaced, and Spark
   * may list a dead one for a while.
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
    // Otherwise the end of one of these tasks is reported late and counts as the next reader's.
    SparkInternals.drainListeners(spark.sc());
  }

  private void write(StepResult result) throws IOException {
    String json = new ObjectMapper().writeValueAsString(result);
    System.out.println(json);
    HostControl.put(share, name + "-" + result.step() + ".json", json);
  }

  /** Counters, summed over both executors. */
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
