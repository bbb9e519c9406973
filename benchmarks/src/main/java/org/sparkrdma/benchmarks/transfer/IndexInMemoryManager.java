// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockId;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import scala.Option;

/**
 * The plug-in's shuffle manager where Spark's own server reads the index file of a map output once,
 * and keeps it as the external shuffle service does. Otherwise an executor's server opens and reads
 * it for each block; the difference is what that costs. Safe for any thread.
 */
public final class IndexInMemoryManager extends RdmaShuffleManager {
  /** Without an initial value: the constructor above may ask for it. Guarded by this. */
  private Resolver resolver;

  /** Called by Spark. */
  public IndexInMemoryManager(SparkConf conf, boolean isDriver) {
    super(conf, isDriver);
  }

  @Override
  public synchronized IndexShuffleBlockResolver shuffleBlockResolver() {
    if (resolver == null) {
      resolver = new Resolver(SparkEnv.get().conf());
    }
    return resolver;
  }

  /** Differs from Spark's in one thing: it reads an index file once, for all of its blocks. */
  static final class Resolver extends IndexShuffleBlockResolver {
    private final TransportConf files = new TransportConf("shuffle", MapConfigProvider.EMPTY);
    private final Map<String, LongBuffer> indexes = new ConcurrentHashMap<>();

    Resolver(SparkConf conf) {
      super(conf, null, new ConcurrentHashMap<>());
    }

    private String index(int shuffleId, long mapId, Option<String[]> directories) {
      return getIndexFile(shuffleId, mapId, directories).getPath();
    }

    @Override
    public ManagedBuffer getBlockData(BlockId id, Option<String[]> directories) {
      ShuffleBlockId block = (ShuffleBlockId) id;
      String index = index(block.shuffleId(), block.mapId(), directories);
      LongBuffer offsets = indexes.computeIfAbsent(index, Resolver::read);
      long offset = offsets.get(block.reduceId());
      return new FileSegmentManagedBuffer(
          files,
          getDataFile(block.shuffleId(), block.mapId(), directories),
          offset,
          offsets.get(block.reduceId() + 1) - offset);
    }

    private static LongBuffer read(String index) {
      try {
        return ByteBuffer.wrap(Files.readAllBytes(Path.of(index))).asLongBuffer();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void removeDataByMap(int shuffleId, long mapId) {
      indexes.remove(index(shuffleId, mapId, Option.empty()));
      super.removeDataByMap(shuffleId, mapId);
    }
  }
}
