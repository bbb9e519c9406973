// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.broadcast;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;
import org.sparkrdma.benchmarks.jobs.GroupBy;
import org.sparkrdma.cluster.LaunchException;

/** Broadcasts one value after the other in a running application. Confined to one thread. */
record BroadcastValue(JavaSparkContext spark, BroadcastPlan.Shape shape) {
  private static final long SEED = 20_261_127;
  private static final Path IO = Path.of("/proc/self/io");
  private static final int ROW_BYTES = 1 << 10;

  /** Rows of 16 hashes of 64 bytes, which no codec compresses. */
  private static final String TABLE =
      """
      CACHE TABLE small AS SELECT id AS key, unhex(concat_ws('', transform(sequence(1, 16),
        i -> sha2(CAST(id * 16 + i AS STRING), 512)))) AS noise FROM range(0, %d, 1, %d)
      """;

  private static final String CHECKSUM = "SELECT 2 * sum(crc32(noise)) FROM small";

  private static final String JOIN =
      """
      SELECT /*+ BROADCAST(small) */ sum(crc32(small.noise))
      FROM range(0, 2 * %1$d, 1, %2$d) AS large JOIN small ON large.id %% %1$d = small.key
      """;

  /** An executor that has the value: checksum of the bytes, and duration of {@code value()}. */
  private record Received(String executor, long checksum, double seconds) implements Serializable {}

  /**
   * Broadcasts a new value, which one task of each executor reads and checks. The tasks of the job
   * start together, each on a core, and an executor has one core.
   *
   * @throws LaunchException when a byte is wrong, or an executor has not exactly one task
   */
  Map<String, Double> measure() throws LaunchException {
    byte[] noise = new byte[shape.bytes()];
    new SplittableRandom(SEED).nextBytes(noise);
    List<Integer> tasks = Collections.nCopies(shape.executors(), 0);
    var job = spark.parallelize(tasks, shape.executors());
    double before = written(IO);
    long startNs = System.nanoTime();
    Broadcast<byte[]> value = spark.broadcast(noise);
    long jobNs = System.nanoTime();
    List<Received> all = job.map(ignored -> receive(value)).collect();
    Map<String, Double> figures = figures(jobNs, before);
    value.destroy(true);
    figures.put("broadcast", (jobNs - startNs) / 1e9);
    figures.put("both", figures.get("broadcast") + figures.get("job"));
    figures.put("value", all.stream().mapToDouble(Received::seconds).max().orElse(0));
    long checksum = GroupBy.NoiseBlocks.checksum(noise);
    if (all.stream().map(Received::executor).distinct().count() != shape.executors()
        || all.stream().anyMatch(received -> received.checksum() != checksum)) {
      throw new LaunchException("not every executor had one task and the right bytes: " + all);
    }
    return figures;
  }

  private static Received receive(Broadcast<byte[]> value) {
    long startNs = System.nanoTime();
    byte[] bytes = value.value();
    double seconds = (System.nanoTime() - startNs) / 1e9;
    return new Received(SparkEnv.get().executorId(), GroupBy.NoiseBlocks.checksum(bytes), seconds);
  }

  /**
   * Joins two tables in SQL, from the start of the query to its answer. The smaller table is in the
   * memory of the executors.
   *
   * @throws LaunchException when the answer is wrong
   */
  Map<String, Double> measureJoin() throws LaunchException {
    int rows = shape.bytes() / ROW_BYTES;
    SparkSession session = SparkSession.builder().getOrCreate();
    if (!session.catalog().tableExists("small")) {
      session.sql(TABLE.formatted(rows, shape.executors()));
    }
    String expected = session.sql(CHECKSUM).collectAsList().toString();
    // Spark removes the value of an earlier join when the heap has lost it.
    System.gc();
    double before = written(IO);
    long startNs = System.nanoTime();
    String sum = session.sql(JOIN.formatted(rows, shape.executors())).collectAsList().toString();
    Map<String, Double> figures = figures(startNs, before);
    if (!sum.equals(expected)) {
      throw new LaunchException("the join gave %s instead of %s".formatted(sum, expected));
    }
    return figures;
  }

  private Map<String, Double> figures(long jobNs, double before) {
    Map<String, Double> figures = new HashMap<>();
    figures.put("job", (System.nanoTime() - jobNs) / 1e9);
    figures.put("egress", (written(IO) - before) / shape.bytes());
    return figures;
  }

  /**
   * Bytes that this process has written to sockets and files: {@code wchar} of proc_pid_io(5),
   * which has the writes of Java's channels, but not those of Netty's epoll. The driver keeps its
   * pieces in memory and writes few other bytes, so that the difference is what it has sent.
   *
   * @return NaN where the system does not count
   */
  static double written(Path io) {
    try {
      return Double.parseDouble(Files.readString(io).replaceAll("(?s).*wchar: (\\d+).*", "$1"));
    } catch (IOException e) {
      return Double.NaN;
    }
  }
}
