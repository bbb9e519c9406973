// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.io.Text;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Writes the input of the sort: {@code records} records in {@code files} files of equal length. */
public final class TeraGen {
  private TeraGen() {}

  /** Returns when the files are written. */
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
