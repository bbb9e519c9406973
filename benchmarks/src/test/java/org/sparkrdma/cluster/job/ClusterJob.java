// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster.job;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.resource.ExecutorResourceRequests;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.ResourceProfileBuilder;
import org.apache.spark.resource.TaskResourceRequests;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.sparkrdma.benchmarks.jobs.PublishedQueries;
import org.sparkrdma.benchmarks.jobs.QuerySuite;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import scala.Tuple2;

/** The application to submit: jobs on two executors of one core. Writes a {@link JobResult}. */
public final class ClusterJob {
  private static final long LISTENER_TIMEOUT_MS = 60_000;

  /** Tasks that return at once; with that many each executor gets some. */
  private static final int QUESTIONS = 20;

  private static final long POLL_NS = 10_000_000;

  private ClusterJob() {}

  /**
   * The data of a shuffle.
   *
   * @param bytes of a record
   */
  private record Shuffle(int maps, int reducers, int records, int bytes) {
    static final Shuffle SMALL = new Shuffle(6, 8, 1_000, 1_024);

    /** 320 MiB, half of which is remote. */
    static final Shuffle LARGE = new Shuffle(16, 4, 320, 65_536);

    /** Has enough reducers for an executor to end while others read. */
    static final Shuffle WIDE = new Shuffle(6, 40, 1_000, 1_024);
  }

  /**
   * Runs the jobs of a name and writes their result to a file.
   *
   * @param arguments name and file
   */
  public static void main(String[] arguments) throws Exception {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("ClusterJob"))) {
      ExecutorEvents events = new ExecutorEvents();
      spark.sc().addSparkListener(events);
      JobResult result =
          switch (arguments[0]) {
            case "shuffle" -> shuffle(spark, events, Shuffle.SMALL);
            case "memory" -> memory(spark, events);
            case "profile" -> result(spark, events, answerOfProfile(spark));
            case "stages" -> stages(spark, events);
            case "SIGTERM" -> end(spark, events, ProcessHandle::destroy);
            case "SIGKILL" -> end(spark, events, ProcessHandle::destroyForcibly);
            case "tpch" -> query(spark, events);
            case "combining" -> result(spark, events, CombinedShuffles.answers(spark));
            default -> throw new IllegalArgumentException("no such job: " + arguments[0]);
          };
      new ObjectMapper().writeValue(Path.of(arguments[1]).toFile(), result);
    }
  }

  /** The answer of the job "shuffle", computed without Spark. */
  public static List<String> small() {
    return expected(Shuffle.SMALL);
  }

  /** The answer of the job "memory". */
  public static List<String> large() {
    return expected(Shuffle.LARGE);
  }

  /** The answer of the jobs that end an executor. */
  public static List<String> wide() {
    return expected(Shuffle.WIDE);
  }

  private static List<String> expected(Shuffle shuffle) {
    int reducers = shuffle.reducers();
    return IntStream.range(0, reducers)
        .mapToObj(
            reducer ->
                summary(
                    reducer,
                    IntStream.range(0, shuffle.maps())
                        .boxed()
                        .flatMap(map -> records(map, shuffle.records(), shuffle.bytes()))
                        .filter(record -> record._1() % reducers == reducer)
                        .iterator()))
        .toList();
  }

  private static JobResult shuffle(JavaSparkContext spark, ExecutorEvents events, Shuffle shuffle) {
    return result(spark, events, answer(spark, shuffle));
  }

  /** Query 5 of TPC-H. The first application with its folder generates the tables. */
  private static JobResult query(JavaSparkContext spark, ExecutorEvents events) throws IOException {
    String folder = spark.getConf().get("spark.test.tables");
    PublishedQueries.parse(QuerySuite.TPCH, "0.1x8x5").prepare(spark, folder);
    SparkSession session = SparkSession.builder().getOrCreate();
    for (File table : new File(folder, "tpch-0.1-8").listFiles()) {
      session.read().parquet(table.getPath()).createOrReplaceTempView(table.getName());
    }
    Dataset<Row> answer = session.sql(QuerySuite.TPCH.text("5"));
    List<String> rows = answer.collectAsList().stream().map(row -> row.mkString("|")).toList();
    System.out.println(answer.queryExecution().executedPlan());
    return result(spark, events, rows);
  }

  /** A shuffle that uses the receive pool, and then a task that takes more memory than it may. */
  private static JobResult memory(JavaSparkContext spark, ExecutorEvents events) {
    JobResult before = result(spark, events, answer(spark, Shuffle.LARGE));
    int bytes = Integer.parseInt(spark.getConf().get("spark.test.excess.bytes"));
    spark.parallelize(List.of(bytes), 1).foreach(ClusterJob::takeMemoryOnce);
    waitUntilEmpty(spark);
    return new JobResult(
        before.answer(),
        before.remoteBytes(),
        before.counters(),
        before.failedTasks(),
        before.removedExecutors(),
        events.removed());
  }

  /** Takes the memory and waits for the end of its executor, when it is the first attempt. */
  private static void takeMemoryOnce(int bytes) throws InterruptedException {
    if (TaskContext.get().attemptNumber() > 0) {
      return;
    }
    ByteBuffer taken = ByteBuffer.allocateDirect(bytes);
    new CountDownLatch(1).await(1, TimeUnit.MINUTES);
    throw new IllegalStateException("still alive with bytes=" + taken.capacity());
  }

  /** Jobs of two and of five stages, with the answer of "shuffle". */
  private static JobResult stages(JavaSparkContext spark, ExecutorEvents events) throws Exception {
    List<String> answers = new ArrayList<>();
    for (int shuffles : List.of(1, 4)) {
      answers.addAll(answerAmidChanges(spark, Shuffle.SMALL, shuffles));
    }
    return result(spark, events, answers);
  }

  /**
   * Each map stage begins on four executors, and ends when dynamic allocation has ended two: its
   * tasks wait for a file, the first one for another.
   */
  private static List<String> answerAmidChanges(
      JavaSparkContext spark, Shuffle shuffle, int shuffles) throws Exception {
    String files = Files.createTempDirectory("stages").toString();
    JavaPairRDD<Integer, byte[]> read = written(spark, shuffle);
    for (int i = 0; i < shuffles; i++) {
      String begin = files + "/begin" + i;
      String end = files + "/end" + i;
      read =
          JavaPairRDD.fromJavaRDD(
                  read.mapPartitionsWithIndex(
                      (index, records) -> {
                        awaitFile(Path.of(index == 0 ? end : begin));
                        return records;
                      },
                      false))
              // Another number than in the stage before, so that each task reads from all.
              .partitionBy(new HashPartitioner(shuffle.reducers() + shuffles - 1 - i));
    }
    JavaFutureAction<List<String>> answer =
        read.mapPartitionsWithIndex((index, all) -> List.of(summary(index, all)).iterator(), false)
            .collectAsync();
    for (int i = 0; i < shuffles; i++) {
      awaitExecutors(spark, 4);
      Files.createFile(Path.of(files, "begin" + i));
      awaitExecutors(spark, 2);
      Files.createFile(Path.of(files, "end" + i));
    }
    return answer.get();
  }

  private static void awaitFile(Path file) {
    while (!Files.exists(file)) {
      LockSupport.parkNanos(POLL_NS);
    }
  }

  private static void awaitExecutors(JavaSparkContext spark, int executors) {
    while (spark.sc().getExecutorIds().size() != executors) {
      LockSupport.parkNanos(POLL_NS);
    }
  }

  /** Ends an executor when some reducers of the job have ended. */
  private static JobResult end(
      JavaSparkContext spark, ExecutorEvents events, Consumer<ProcessHandle> signal) {
    long first =
        ofEachExecutor(spark, () -> ProcessHandle.current().pid()).values().iterator().next();
    waitUntilEmpty(spark);
    events.afterReducers(3, () -> ProcessHandle.of(first).ifPresent(signal));
    return shuffle(spark, events, Shuffle.WIDE);
  }

  /** Number of records of each reducer, and the sum of their checksums. */
  private static List<String> answer(JavaSparkContext spark, Shuffle shuffle) {
    return written(spark, shuffle)
        .partitionBy(new HashPartitioner(shuffle.reducers()))
        .mapPartitionsWithIndex((index, read) -> List.of(summary(index, read)).iterator(), false)
        .collect();
  }

  /** The answer of "shuffle", by executors of another profile, which has no memoryOverhead. */
  private static List<String> answerOfProfile(JavaSparkContext spark) {
    ResourceProfile profile =
        new ResourceProfileBuilder()
            .require(new ExecutorResourceRequests().cores(1).memory("768m"))
            .require(new TaskResourceRequests().cpus(1))
            .build();
    return written(spark, Shuffle.SMALL)
        .partitionBy(new HashPartitioner(Shuffle.SMALL.reducers()))
        .mapPartitionsWithIndex((index, read) -> List.of(summary(index, read)).iterator(), false)
        .withResources(profile)
        .collect();
  }

  private static JavaPairRDD<Integer, byte[]> written(JavaSparkContext spark, Shuffle shuffle) {
    int records = shuffle.records();
    int bytes = shuffle.bytes();
    return spark
        .parallelize(IntStream.range(0, shuffle.maps()).boxed().toList(), shuffle.maps())
        .flatMapToPair(map -> records(map, records, bytes).iterator());
  }

  private static Stream<Tuple2<Integer, byte[]>> records(int map, int records, int bytes) {
    Random random = new Random(map);
    return IntStream.range(0, records)
        .mapToObj(
            record -> {
              byte[] value = new byte[bytes];
              random.nextBytes(value);
              return new Tuple2<>(record, value);
            });
  }

  private static String summary(int reducer, Iterator<Tuple2<Integer, byte[]>> read) {
    long records = 0;
    long sum = 0;
    CRC32 crc = new CRC32();
    while (read.hasNext()) {
      Tuple2<Integer, byte[]> record = read.next();
      crc.reset();
      crc.update(record._2());
      sum += crc.getValue() * (record._1() + 1);
      records++;
    }
    return reducer + ": " + records + " records, checksum " + sum;
  }

  private static JobResult result(
      JavaSparkContext spark, ExecutorEvents events, List<String> answer) {
    Map<String, Long> sums = new TreeMap<>();
    ofEachExecutor(spark, ClusterJob::counters)
        .values()
        .forEach(counters -> counters.forEach((name, count) -> sums.merge(name, count, Long::sum)));
    waitUntilEmpty(spark);
    return new JobResult(
        answer, events.remoteBytes(), sums, events.failedTasks(), events.removed(), List.of());
  }

  /** The plug-in's counters; none under Spark's own shuffle. */
  private static Map<String, Long> counters() {
    return SparkEnv.get().shuffleManager() instanceof RdmaShuffleManager manager
        ? new TreeMap<>(manager.counters())
        : Map.of();
  }

  /** A question to an executor. */
  @FunctionalInterface
  private interface Question<T> extends Serializable {
    T ask();
  }

  /** The answer of each executor that gets tasks, by executor id. */
  private static <T> Map<String, T> ofEachExecutor(JavaSparkContext spark, Question<T> question) {
    Map<String, T> answers = new TreeMap<>();
    spark
        .parallelize(IntStream.range(0, QUESTIONS).boxed().toList(), QUESTIONS)
        .map(ignored -> new Tuple2<>(SparkEnv.get().executorId(), question.ask()))
        .collect()
        .forEach(answer -> answers.put(answer._1(), answer._2()));
    return answers;
  }

  private static void waitUntilEmpty(JavaSparkContext spark) {
    try {
      spark.sc().listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
    } catch (TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }
}
