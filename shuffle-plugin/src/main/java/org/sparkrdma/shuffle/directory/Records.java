// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.function.Consumer;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

/**
 * Many records as one array in the format of zlib: each behind its length as an int, and a length
 * of 0 at the end. Stateless.
 */
final class Records {
  /** More than a record with the longest reasons has. */
  static final int MAX_RECORD_BYTES = 64 << 10;

  private Records() {}

  /**
   * @param level of compression, as of {@link Deflater}
   */
  static byte[] join(Collection<byte[]> records, int level) {
    ByteArrayOutputStream joined = new ByteArrayOutputStream();
    Deflater deflater = new Deflater(level);
    try (DataOutputStream out =
        new DataOutputStream(new DeflaterOutputStream(joined, deflater, 8 << 10))) {
      for (byte[] record : records) {
        out.writeInt(record.length);
        out.write(record);
      }
      out.writeInt(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      deflater.end();
    }
    return joined.toByteArray();
  }

  /**
   * @throws IllegalArgumentException when it is malformed; the records before that were consumed
   */
  static void split(byte[] joined, Consumer<byte[]> consumer) {
    try (DataInputStream in =
        new DataInputStream(new InflaterInputStream(new ByteArrayInputStream(joined)))) {
      int length = in.readInt();
      while (length != 0) {
        if (length < 0 || length > MAX_RECORD_BYTES) {
          throw new IllegalArgumentException("bad message: recordBytes=" + length);
        }
        consumer.accept(in.readNBytes(length));
        length = in.readInt();
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("bad message: records are malformed", e);
    }
  }
}
