/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.output;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.sparkrdma.shuffle.wire.ChecksumKind;
import org.sparkrdma.shuffle.wire.Located;
import scala.Option;

/**
 * Reads the files that Spark's own {@link IndexShuffleBlockResolver} names: data, index and
 * checksums.
 *
 * <p>The index file has the start of each partition and the end of the last one, the checksum file
 * one checksum for each partition; both consist of 64-bit big-endian numbers. A missing checksum
 * file, or one of wrong length, means no checksums. Stateless, safe for any thread.
 */
public final class SparkMapOutputs implements MapOutputs {
  private final IndexShuffleBlockResolver resolver;
  private final List<Path> directories;
  private final String algorithm;
  private final int checksumKind;

  /**
   * @param resolver of the executor's shuffle manager
   * @param directories Spark's local directories
   * @param conf has Spark's checksum settings
   */
  public SparkMapOutputs(
      IndexShuffleBlockResolver resolver, List<Path> directories, SparkConf conf) {
    this.resolver = resolver;
    this.directories = List.copyOf(directories);
    this.algorithm = conf.get("spark.shuffle.checksum.algorithm", "ADLER32");
    this.checksumKind =
        conf.getBoolean("spark.shuffle.checksum.enabled", true)
            ? ChecksumKind.named(algorithm)
            : Located.NO_CHECKSUM;
  }

  @Override
  public List<Path> directories() {
    return directories;
  }

  @Override
  public int checksumKind() {
    return checksumKind;
  }

  @Override
  public MapOutput open(int shuffleId, long mapId) throws IOException {
    Path index = resolver.getIndexFile(shuffleId, mapId, Option.empty()).toPath();
    long[] offsets;
    try {
      offsets = readLongs(index);
    } catch (NoSuchFileException e) {
      return null;
    }
    Path data = resolver.getDataFile(shuffleId, mapId).toPath();
    MapOutput output;
    try {
      output = new MapOutput(data, offsets, readSums(shuffleId, mapId, offsets.length - 1));
    } catch (IllegalArgumentException e) {
      throw new IOException("unusable index: file=" + index.getFileName(), e);
    }
    if (output.lengthBytes() > 0 && Files.size(data) < output.lengthBytes()) {
      throw new EOFException(
          "data ends before its index does: file="
              + data.getFileName()
              + " indexedBytes="
              + output.lengthBytes());
    }
    return output;
  }

  private long[] readSums(int shuffleId, long mapId, int partitions) {
    if (checksumKind == Located.NO_CHECKSUM) {
      return null;
    }
    try {
      long[] sums =
          readLongs(resolver.getChecksumFile(shuffleId, mapId, algorithm, Option.empty()).toPath());
      return sums.length == partitions ? sums : null;
    } catch (IOException e) {
      // Not an error: migrated map outputs have no checksum file.
      return null;
    }
  }

  private static long[] readLongs(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    if (bytes.length % Long.BYTES != 0) {
      throw new EOFException(
          "truncated: file=" + file.getFileName() + " lengthBytes=" + bytes.length);
    }
    long[] values = new long[bytes.length / Long.BYTES];
    ByteBuffer.wrap(bytes).asLongBuffer().get(values);
    return values;
  }
}
