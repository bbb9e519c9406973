// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkConf;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.ShuffleIndexBlockId;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.wire.Locate;
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
public class SparkMapOutputs implements MapOutputs {
  /** The reduce id in names of index files, see Spark's IndexShuffleBlockResolver. */
  private static final int NO_REDUCE_ID = 0;

  private final IndexShuffleBlockResolver resolver;
  private final List<Path> directories;
  private final String algorithm;
  private final int checksumKind;
  private final MissingLinks missing;

  /**
   * @param resolver of the executor's shuffle manager
   * @param directories Spark's local directories
   * @param conf has Spark's checksum settings
   * @param verifies whether readers verify blocks; else no checksums are read
   * @param missing takes errors about methods and fields that Spark lacks; the block is then
   *     unknown here
   */
  public SparkMapOutputs(
      IndexShuffleBlockResolver resolver,
      List<Path> directories,
      SparkConf conf,
      boolean verifies,
      MissingLinks missing) {
    this.missing = missing;
    this.resolver = resolver;
    this.directories = List.copyOf(directories);
    package$ keys = package$.MODULE$;
    // As Spark does: the setting may be in lower case, the file's name has it in upper case.
    this.algorithm = conf.get(keys.SHUFFLE_CHECKSUM_ALGORITHM()).toUpperCase(Locale.ROOT);
    this.checksumKind =
        verifies && (Boolean) conf.get(keys.SHUFFLE_CHECKSUM_ENABLED())
            ? Located.checksumKind(algorithm)
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
  public int disks() {
    return Math.max(1, directories.size());
  }

  @Override
  public int indexDisk(int shuffleId, long mapId) {
    try {
      return directoryOf(indexName(shuffleId, mapId), Math.max(1, directories.size()));
    } catch (LinkageError e) {
      onMissing(e);
      return 0;
    }
  }

  /** Name of the index file of a map output. */
  public static String indexName(int shuffleId, long mapId) {
    return new ShuffleIndexBlockId(shuffleId, mapId, NO_REDUCE_ID).name();
  }

  /** Takes an error about a method or field that Spark lacks, if it is one, perhaps of a future. */
  public void onMissing(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof LinkageError error) {
      missing.take(error);
    }
  }

  /** Index of the directory of a file among so many, as Spark's DiskBlockManager chooses it. */
  public static int directoryOf(String name, int directories) {
    return JavaUtils.nonNegativeHash(name) % directories;
  }

  @Override
  public int dataDisk(MapOutput mapOutput) {
    for (int i = 0; i < directories.size(); i++) {
      if (mapOutput.isIn(directories.subList(i, i + 1))) {
        return i;
      }
    }
    return 0;
  }

  @Override
  public MapOutput open(int shuffleId, long mapId) throws IOException {
    return openRange(Locate.OWN, shuffleId, mapId, PartitionRange.WHOLE);
  }

  @Override
  public MapOutput openRange(int owner, int shuffleId, long mapId, PartitionRange range)
      throws IOException {
    return owner == Locate.OWN ? openIn(null, data -> data, shuffleId, mapId, range) : null;
  }

  /**
   * Same as {@link #openRange}, of another executor.
   *
   * @param others its directories; null for those of this executor
   * @param place finds the directory of this executor in which a data file counts as one
   */
  public MapOutput openIn(
      String[] others, UnaryOperator<Path> place, int shuffleId, long mapId, PartitionRange range)
      throws IOException {
    try {
      Option<String[]> named = Option.apply(others);
      Path data = resolver.getDataFile(shuffleId, mapId, named).toPath();
      Path index = resolver.getIndexFile(shuffleId, mapId, named).toPath();
      Path sums =
          checksumKind == Located.NO_CHECKSUM
              ? null
              : resolver.getChecksumFile(shuffleId, mapId, algorithm, named).toPath();
      return open(data, place.apply(data), index, sums, range);
    } catch (LinkageError e) {
      missing.take(e);
      throw new IOException("Spark does not name the files of a map output", e);
    }
  }

  private static MapOutput open(Path data, Path place, Path index, Path sums, PartitionRange range)
      throws IOException {
    MapOutput output;
    try (FileChannel channel = FileChannel.open(index, StandardOpenOption.READ)) {
      int partitions = Math.toIntExact(channel.size() / Long.BYTES - 1);
      boolean whole = range.readsWhole().test(partitions);
      int first = whole ? 0 : range.first();
      int end = whole ? partitions : range.end();
      if (first >= end || end > partitions || channel.size() % Long.BYTES != 0) {
        throw new EOFException(
            "truncated: file=" + index.getFileName() + " lengthBytes=" + channel.size());
      }
      long[] offsets = read(index, channel, first, end - first + 1);
      output =
          new MapOutput(
              data, place, partitions, first, offsets, readSums(sums, partitions, first, end));
    } catch (NoSuchFileException e) {
      return null;
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IOException("unusable index: file=" + index.getFileName(), e);
    }
    if (output.isWhole() && output.lengthBytes() > 0 && Files.size(data) < output.lengthBytes()) {
      throw new EOFException(
          "data ends before its index does: file="
              + data.getFileName()
              + " indexedBytes="
              + output.lengthBytes());
    }
    return output;
  }

  private static long[] readSums(Path file, int partitions, int first, int end) {
    if (file == null) {
      return null;
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return channel.size() == (long) partitions * Long.BYTES
          ? read(file, channel, first, end - first)
          : null;
    } catch (IOException e) {
      // Not an error: migrated map outputs have no checksum file.
      return null;
    }
  }

  /** 64-bit values in a file, from an index on. */
  private static long[] read(Path file, FileChannel channel, int first, int count)
      throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count * Long.BYTES);
    while (bytes.hasRemaining()) {
      if (channel.read(bytes, (long) first * Long.BYTES + bytes.position()) < 0) {
        throw new EOFException(
            "truncated: file=" + file.getFileName() + " lengthBytes=" + channel.size());
      }
    }
    long[] values = new long[count];
    bytes.flip().asLongBuffer().get(values);
    return values;
  }
}
