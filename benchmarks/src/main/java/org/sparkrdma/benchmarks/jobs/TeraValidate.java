// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32;
import org.apache.hadoop.examples.terasort.TeraInputFormat;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.spark.api.java.JavaNewHadoopRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** Counts and sums the records of a directory and finds the first that is out of order. */
public final class TeraValidate {
  private TeraValidate() {}

  /** Reads the whole directory. */
  public static Summary summarize(JavaSparkContext spark, String directory) {
    var records =
        (JavaNewHadoopRDD<Text, Text>)
            spark.newAPIHadoopFile(
                directory,
                TeraInputFormat.class,
                Text.class,
                Text.class,
                spark.hadoopConfiguration());
    return combine(
        records
            .mapPartitionsWithInputSplit(
                (split, pairs) -> {
                  FileSplit part = (FileSplit) split;
                  return List.of(SplitSummary.of(part.getPath().getName(), part.getStart(), pairs))
                      .iterator();
                },
                false)
            .collect());
  }

  /** Files follow each other by name, splits within a file by offset. */
  static Summary combine(List<SplitSummary> splits) {
    List<SplitSummary> inOrder =
        splits.stream()
            .sorted(
                Comparator.comparing((SplitSummary split) -> split.file)
                    .thenComparingLong(split -> split.startOffset))
            .toList();
    long records = 0;
    long checksum = 0;
    for (SplitSummary split : inOrder) {
      records += split.records;
      checksum += split.crcSum;
    }
    return new Summary(records, Long.toHexString(checksum), firstDisorder(inOrder));
  }

  private static Optional<String> firstDisorder(List<SplitSummary> inOrder) {
    SplitSummary before = null;
    for (SplitSummary split : inOrder) {
      if (split.firstMisplaced >= 0) {
        return Optional.of(
            "record %d after offset %d of %s is smaller than the one before it"
                .formatted(split.firstMisplaced, split.startOffset, split.file));
      }
      if (split.records == 0) {
        continue;
      }
      if (before != null && Arrays.compareUnsigned(before.lastKey, split.firstKey) > 0) {
        return Optional.of(
            "the first record after offset %d of %s is smaller than the last of %s"
                .formatted(split.startOffset, split.file, before.file));
      }
      before = split;
    }
    return Optional.empty();
  }

  /**
   * Summary of a directory of records.
   *
   * @param checksum sum of the CRC32 of every record, in hexadecimal, as Hadoop's TeraChecksum
   *     prints it
   * @param disorder where the records are not sorted, empty if they are
   */
  public record Summary(long records, String checksum, Optional<String> disorder) {}

  /**
   * Count, checksum and key range of one split of a directory of records. Created by one task,
   * immutable afterwards.
   *
   * <p>A class and not a record because the Kryo that Spark ships cannot read records.
   */
  static final class SplitSummary implements Serializable {
    private static final long serialVersionUID = 1L;

    private final String file;
    private final long startOffset;
    private long records;

    /** Sum of the records' CRC32 modulo 2^64; exact, read unsigned, up to 2^32 records. */
    private long crcSum;

    /** Null in an empty split, as the last one. */
    private byte[] firstKey;

    private byte[] lastKey;

    /** Number within the split of the first record that is smaller than the one before; or -1. */
    private long firstMisplaced = -1;

    private SplitSummary(String file, long startOffset) {
      this.file = file;
      this.startOffset = startOffset;
    }

    static SplitSummary of(String file, long startOffset, Iterator<Tuple2<Text, Text>> pairs) {
      SplitSummary summary = new SplitSummary(file, startOffset);
      CRC32 crc = new CRC32();
      while (pairs.hasNext()) {
        Tuple2<Text, Text> pair = pairs.next();
        crc.reset();
        crc.update(pair._1.getBytes(), 0, pair._1.getLength());
        crc.update(pair._2.getBytes(), 0, pair._2.getLength());
        summary.add(pair._1, crc.getValue());
      }
      return summary;
    }

    private void add(Text key, long crc) {
      if (lastKey == null) {
        firstKey = key.copyBytes();
        lastKey = firstKey.clone();
      } else {
        int order =
            Arrays.compareUnsigned(lastKey, 0, lastKey.length, key.getBytes(), 0, key.getLength());
        if (order > 0 && firstMisplaced < 0) {
          firstMisplaced = records;
        }
        System.arraycopy(key.getBytes(), 0, lastKey, 0, lastKey.length);
      }
      records++;
      crcSum += crc;
    }
  }
}
