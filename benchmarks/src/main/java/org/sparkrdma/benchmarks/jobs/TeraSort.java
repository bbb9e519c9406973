// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.hadoop.examples.terasort.TeraInputFormat;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.spark.Partitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.jobs.ComputedAnswer.Answer;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.DataSize;
import scala.Tuple2;

/**
 * Sorts records of 100 bytes from files into files, as Hadoop's TeraSort does. {@link #write} and
 * {@link #sort} are for other jobs, too.
 */
public record TeraSort(DataSize size) implements Workload {
  private static final int RECORD_BYTES = 100;
  private static final long BYTES_PER_PARTITION = 32L << 20;
  private static final int MIN_PARTITIONS = 4;

  /** Keys in the order of their unsigned bytes; serialized to executors with the tasks. */
  private static final Comparator<byte[]> UNSIGNED_BYTES =
      (Comparator<byte[]> & Serializable) Arrays::compareUnsigned;

  /**
   * @param shape such as {@code 1g}: bytes of the input
   */
  public static TeraSort parse(String shape) {
    return new TeraSort(Workload.Shape.parse(shape, 1).size(0));
  }

  private int partitions() {
    long wanted = (size.bytes() + BYTES_PER_PARTITION - 1) / BYTES_PER_PARTITION;
    return Math.toIntExact(Math.max(MIN_PARTITIONS, wanted));
  }

  @Override
  public void prepare(JavaSparkContext spark, String data) throws IOException {
    delete(spark, input(data));
    write(spark, input(data), size.bytes() / RECORD_BYTES, partitions());
  }

  /** The answer is the output's digest; output that is not sorted is an error. */
  @Override
  public PendingAnswer run(JavaSparkContext spark, String data) throws IOException {
    String output = data + "/terasort-output";
    delete(spark, output);
    sort(spark, input(data), output, partitions());
    return new PendingAnswer(() -> answer(spark, data, output));
  }

  private ComputedAnswer answer(JavaSparkContext spark, String data, String output)
      throws LaunchException, IOException {
    TeraValidate.Summary summary = TeraValidate.summarize(spark, output);
    if (summary.disorder().isPresent()) {
      throw new LaunchException("the output is not sorted: " + summary.disorder().get());
    }
    TeraValidate.Summary expected = TeraValidate.summarize(spark, input(data));
    Answer answer = new Answer(summary.records(), summary.checksum());
    answer.requireAllOf(new Answer(expected.records(), expected.checksum()));
    delete(spark, output);
    return ComputedAnswer.of(answer);
  }

  private String input(String data) {
    return data + "/terasort-input-" + size.bytes();
  }

  private static void delete(JavaSparkContext spark, String directory) throws IOException {
    Path path = new Path(directory);
    path.getFileSystem(spark.hadoopConfiguration()).delete(path, true);
  }

  /** Writes records into files of equal length; returns when the files are written. */
  public static void write(JavaSparkContext spark, String directory, long records, int files) {
    spark
        .parallelize(IntStream.range(0, files).boxed().toList(), files)
        .mapPartitionsToPair(
            numbers -> {
              int file = numbers.next();
              return new TeraRecords(
                  firstRow(file, records, files), firstRow(file + 1, records, files));
            })
        .saveAsNewAPIHadoopFile(
            directory, Text.class, Text.class, TeraOutputFormat.class, spark.hadoopConfiguration());
  }

  private static long firstRow(int file, long records, int files) {
    return records / files * file + Math.min(file, records % files);
  }

  /** Sorts a directory into another: shuffle by range, sort, write. */
  public static void sort(JavaSparkContext spark, String input, String output, int partitions) {
    JavaPairRDD<byte[], byte[]> records =
        spark
            .newAPIHadoopFile(
                input, TeraInputFormat.class, Text.class, Text.class, spark.hadoopConfiguration())
            .mapToPair(pair -> new Tuple2<>(pair._1.copyBytes(), pair._2.copyBytes()));
    records
        .repartitionAndSortWithinPartitions(new RangePartitions(partitions), UNSIGNED_BYTES)
        .mapToPair(pair -> new Tuple2<>(new Text(pair._1), new Text(pair._2)))
        .saveAsNewAPIHadoopFile(
            output, Text.class, Text.class, TeraOutputFormat.class, spark.hadoopConfiguration());
  }

  /**
   * Sends each key to the partition of its range, so that partitions follow each other in key
   * order. The ranges are equal, because the keys that {@link TeraRecords} generates are uniform.
   */
  private static final class RangePartitions extends Partitioner {
    private static final long serialVersionUID = 1L;

    private final int partitions;

    RangePartitions(int partitions) {
      this.partitions = partitions;
    }

    @Override
    public int numPartitions() {
      return partitions;
    }

    @Override
    public int getPartition(Object key) {
      long prefix = Integer.toUnsignedLong(ByteBuffer.wrap((byte[]) key).getInt());
      return (int) ((prefix * partitions) >>> Integer.SIZE);
    }
  }

  /**
   * The records of a range of row numbers, in the layout of the sort benchmark.
   *
   * <pre>
   *  0          10  12                32 hex digits    44  48                  96  100
   *  +----------+---+----------------------------------+---+-------------------+---+
   *  | key      |0 1| row number                       |mark| filler, 12 x 4   |mark|
   *  +----------+---+----------------------------------+---+-------------------+---+
   * </pre>
   *
   * The key is random but a function of the row number alone, so that every run generates the same
   * bytes. Key and value are reused by the next record. Confined to one thread.
   */
  static final class TeraRecords implements Iterator<Tuple2<Text, Text>> {
    private static final int KEY_BYTES = 10;
    private static final int VALUE_BYTES = 90;

    private static final String HEX = "0123456789ABCDEF";
    private static final int ROW_OFFSET = 2;
    private static final int ROW_DIGITS = 32;
    private static final int FIRST_MARK_OFFSET = ROW_OFFSET + ROW_DIGITS;
    private static final int FILLER_OFFSET = FIRST_MARK_OFFSET + 4;
    private static final int SECOND_MARK_OFFSET = 86;

    private final long endRow;
    private final byte[] keyBytes = new byte[KEY_BYTES];
    private final byte[] valueBytes = new byte[VALUE_BYTES];
    private final Text key = new Text();
    private final Text value = new Text();
    private long row;

    /** The records of rows {@code startRow} to {@code endRow - 1}. */
    TeraRecords(long startRow, long endRow) {
      this.row = startRow;
      this.endRow = endRow;
      valueBytes[1] = 0x11;
      ByteBuffer.wrap(valueBytes)
          .putInt(FIRST_MARK_OFFSET, 0x8899AABB)
          .putInt(SECOND_MARK_OFFSET, 0xCCDDEEFF);
    }

    @Override
    public boolean hasNext() {
      return row < endRow;
    }

    @Override
    public Tuple2<Text, Text> next() {
      if (!hasNext()) {
        throw new NoSuchElementException("no row past the range: endRow=" + endRow);
      }
      SplittableRandom random = new SplittableRandom(row);
      random.nextBytes(keyBytes);
      putRow();
      putFiller(random.nextLong());
      row++;
      key.set(keyBytes);
      value.set(valueBytes);
      return new Tuple2<>(key, value);
    }

    private void putRow() {
      long rest = row;
      for (int i = ROW_OFFSET + ROW_DIGITS - 1; i >= ROW_OFFSET; i--) {
        valueBytes[i] = (byte) HEX.charAt((int) (rest & 0xF));
        rest >>>= 4;
      }
    }

    private void putFiller(long random) {
      long rest = random;
      for (int i = FILLER_OFFSET; i < SECOND_MARK_OFFSET; i += 4) {
        Arrays.fill(valueBytes, i, i + 4, (byte) HEX.charAt((int) (rest & 0xF)));
        rest >>>= 4;
      }
    }
  }
}
