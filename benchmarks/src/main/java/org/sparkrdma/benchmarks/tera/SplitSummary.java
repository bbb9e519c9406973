// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Iterator;
import java.util.zip.CRC32;
import org.apache.hadoop.io.Text;
import scala.Tuple2;

/**
 * Count, checksum and key range of one split of a directory of records. Created by one task,
 * immutable afterwards.
 *
 * <p>A class and not a record because the Kryo that Spark ships cannot read records.
 */
final class SplitSummary implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String file;
  private final long startOffset;
  private long records;
  private long crcSum;
  private byte[] firstKey;
  private byte[] lastKey;
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

  String file() {
    return file;
  }

  long startOffset() {
    return startOffset;
  }

  long records() {
    return records;
  }

  /** Sum of the records' CRC32 modulo 2^64; exact, read unsigned, up to 2^32 records. */
  long crcSum() {
    return crcSum;
  }

  /** Null in an empty split, as {@link #lastKey()}. */
  byte[] firstKey() {
    return firstKey;
  }

  byte[] lastKey() {
    return lastKey;
  }

  /** Number within the split of the first record that is smaller than the one before; or -1. */
  long firstMisplaced() {
    return firstMisplaced;
  }
}
