// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.math.BigInteger;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.examples.terasort.TeraInputFormat;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.spark.api.java.JavaNewHadoopRDD;
import org.apache.spark.api.java.JavaSparkContext;

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
                Comparator.comparing(SplitSummary::file)
                    .thenComparingLong(SplitSummary::startOffset))
            .toList();
    long records = 0;
    BigInteger checksum = BigInteger.ZERO;
    for (SplitSummary split : inOrder) {
      records += split.records();
      checksum = checksum.add(new BigInteger(Long.toUnsignedString(split.crcSum())));
    }
    return new Summary(records, checksum.toString(16), firstDisorder(inOrder));
  }

  private static Optional<String> firstDisorder(List<SplitSummary> inOrder) {
    SplitSummary before = null;
    for (SplitSummary split : inOrder) {
      if (split.firstMisplaced() >= 0) {
        return Optional.of(
            "record %d after offset %d of %s is smaller than the one before it"
                .formatted(split.firstMisplaced(), split.startOffset(), split.file()));
      }
      if (split.records() == 0) {
        continue;
      }
      if (before != null
          && KeyOrder.UNSIGNED_BYTES.compare(before.lastKey(), split.firstKey()) > 0) {
        return Optional.of(
            "the first record after offset %d of %s is smaller than the last of %s"
                .formatted(split.startOffset(), split.file(), before.file()));
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
}
