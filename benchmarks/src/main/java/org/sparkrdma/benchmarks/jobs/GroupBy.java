// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.ComputedAnswer.Answer;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.DataSize;
import scala.Tuple2;
import scala.Tuple3;

/**
 * Groups values by key, with as many keys as reducers. All blocks have the same length. Spark's
 * GroupByTest, with which SparkRDMA and SparkUCX were measured, has this shape.
 *
 * @param shuffles number of shuffles of these blocks: with 2 each task reads both at once, as in a
 *     join
 */
public record GroupBy(NoiseBlocks blocks, int shuffles) implements Workload {
  private static final int MAX_SHUFFLES = 2;

  /** Small enough for several records in the shortest block; larger ones cost less to serialize. */
  private static final int MAX_RECORD_BYTES = 1 << 10;

  private static final int SMALL_BLOCK_BYTES = 4 << 10;
  private static final long SEED = 20_261_121;

  /**
   * @param shape such as {@code 256x256x4k}: maps, reducers, payload of a block; {@code
   *     256x256x4kx2} for two such shuffles
   * @throws MisuseException in one sentence
   */
  public static GroupBy parse(String shape) {
    boolean several = shape.split("x", -1).length == 4;
    Workload.Shape parts = Workload.Shape.parse(shape, several ? 4 : 3);
    int blockBytes = parts.bytes(2, new DataSize(64L << 20));
    return new GroupBy(
        new NoiseBlocks(
            parts.count(0, 1, 100_000),
            parts.count(1, 1, 100_000),
            blockBytes,
            Math.min(MAX_RECORD_BYTES, blockBytes),
            SEED),
        several ? parts.count(3, 1, MAX_SHUFFLES) : 1);
  }

  /** The shape of this size with blocks of 4 KiB and as many maps as reducers. */
  public static String shapeOfSmallBlocks(DataSize size) {
    long side = Math.max(2, Math.round(Math.sqrt((double) size.bytes() / SMALL_BLOCK_BYTES)));
    return "%1$dx%1$dx4k".formatted(side);
  }

  @Override
  public PendingAnswer run(JavaSparkContext spark, String data) {
    HashPartitioner reducers = new HashPartitioner(blocks.reducers());
    JavaPairRDD<Integer, byte[]> records = maps(spark).flatMapToPair(blocks::ofMap);
    Tuple3<Long, Long, Long> sum =
        shuffles == 1
            ? sum(records.groupByKey(reducers))
            : sum(
                records
                    .cogroup(maps(spark).flatMapToPair(blocks.others()::ofMap), reducers)
                    .flatMapToPair(GroupBy::separate));
    return new PendingAnswer(() -> ComputedAnswer.of(requireAll(spark, sum)));
  }

  private JavaRDD<Integer> maps(JavaSparkContext spark) {
    return spark.parallelize(IntStream.range(0, blocks.maps()).boxed().toList(), blocks.maps());
  }

  private static <T> Iterator<Tuple2<Integer, T>> separate(Tuple2<Integer, Tuple2<T, T>> joined) {
    Tuple2<T, T> both = joined._2;
    return List.of(new Tuple2<>(joined._1, both._1), new Tuple2<>(joined._1, both._2)).iterator();
  }

  private static Tuple3<Long, Long, Long> sum(JavaPairRDD<Integer, Iterable<byte[]>> groups) {
    return groups
        .mapPartitionsWithIndex(
            (reducer, ofReducer) -> List.of(summarize(reducer, ofReducer)).iterator(), false)
        .fold(
            new Tuple3<>(0L, 0L, 0L),
            (a, b) -> new Tuple3<>(a._1() + b._1(), a._2() + b._2(), a._3() + b._3()));
  }

  /** Generates all records again, without a shuffle, and compares. */
  private Answer requireAll(JavaSparkContext spark, Tuple3<Long, Long, Long> found)
      throws LaunchException {
    Answer answer = answer(found);
    long sum = maps(spark).map(blocks::sumOfMap).fold(0L, Long::sum);
    if (shuffles == 2) {
      sum += maps(spark).map(blocks.others()::sumOfMap).fold(0L, Long::sum);
    }
    answer.requireAllOf(Answer.of(shuffles * blocks.blocks() * blocks.recordsPerBlock(), sum));
    return answer;
  }

  /** The answer of the sums of {@link #summarize}. */
  static Answer answer(Tuple3<Long, Long, Long> found) throws LaunchException {
    if (found._3() != 0) {
      throw new LaunchException(
          "%d of %d records were read by the wrong reducer".formatted(found._3(), found._1()));
    }
    return Answer.of(found._1(), found._2());
  }

  /**
   * Number of records, sum of their checksums, and number of the records that belong to another
   * reducer. These are counted and fail the driver, because Spark would run a failed task again.
   */
  static Tuple3<Long, Long, Long> summarize(
      int reducer, Iterator<Tuple2<Integer, Iterable<byte[]>>> groups) {
    long records = 0;
    long sum = 0;
    long misplaced = 0;
    while (groups.hasNext()) {
      Tuple2<Integer, Iterable<byte[]>> group = groups.next();
      for (byte[] value : group._2) {
        records++;
        sum += NoiseBlocks.checksum(group._1, value);
        misplaced += group._1 == reducer ? 0 : 1;
      }
    }
    return new Tuple3<>(records, sum, misplaced);
  }

  /**
   * Records of a shuffle in which every map output has a block of the same length for every
   * reducer. The bytes are noise from a seed, which no codec compresses.
   *
   * @param maps number of map outputs
   * @param reducers number of blocks in each map output
   * @param blockBytes payload of one block
   * @param recordBytes payload of one record; the last record of a block may be shorter
   */
  public record NoiseBlocks(int maps, int reducers, int blockBytes, int recordBytes, long seed)
      implements Serializable {
    /** The records of one map output, each with the number of its reducer. Generated lazily. */
    public Iterator<Tuple2<Integer, byte[]>> ofMap(int map) {
      SplittableRandom random = new SplittableRandom(seed + map);
      return IntStream.range(0, reducers)
          .boxed()
          .flatMap(
              reducer ->
                  IntStream.range(0, recordsPerBlock())
                      .mapToObj(record -> new Tuple2<>(reducer, noise(random, record))))
          .iterator();
    }

    /** Another shuffle of this shape, with other bytes. */
    NoiseBlocks others() {
      return new NoiseBlocks(maps, reducers, blockBytes, recordBytes, seed + maps);
    }

    /** Sum of the checksums of all records of one map output. */
    long sumOfMap(int map) {
      long sum = 0;
      for (var records = ofMap(map); records.hasNext(); ) {
        Tuple2<Integer, byte[]> next = records.next();
        sum += checksum(next._1, next._2);
      }
      return sum;
    }

    private byte[] noise(SplittableRandom random, int record) {
      byte[] noise = new byte[Math.min(recordBytes, blockBytes - record * recordBytes)];
      random.nextBytes(noise);
      return noise;
    }

    int recordsPerBlock() {
      return (blockBytes + recordBytes - 1) / recordBytes;
    }

    long blocks() {
      return (long) maps * reducers;
    }

    /** Checksum of a record together with its key. */
    static long checksum(int key, byte[] record) {
      CRC32C checksum = new CRC32C();
      checksum.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, key));
      checksum.update(record);
      return checksum.getValue();
    }

    /** Checksum of one record. Sums of them do not depend on the order of the records. */
    public static long checksum(byte[] record) {
      CRC32C checksum = new CRC32C();
      checksum.update(record);
      return checksum.getValue();
    }
  }
}
