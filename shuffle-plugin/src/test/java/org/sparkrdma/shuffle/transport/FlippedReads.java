// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockFetch;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.Delivery;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.ReadBatch;
import org.sparkrdma.shuffle.fetch.Segment;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;

/**
 * A transport whose READs flip one bit of every block in registered memory and pass it to the real
 * delivery.
 */
public final class FlippedReads implements BlockTransport, AutoCloseable {
  private final MapOutputs outputs;
  private final RegisteredPool sinks;
  private final Random random;
  private final ExecutorService threads = Executors.newSingleThreadExecutor();
  private final AtomicLong differences = new AtomicLong();
  private final Delivery delivery;

  /**
   * @param sinks with chunks that hold a whole block
   * @param random where the bit is
   */
  public FlippedReads(
      MapOutputs outputs, RegisteredPool sinks, ShuffleCounters counters, Random random) {
    this.outputs = outputs;
    this.sinks = sinks;
    this.random = random;
    this.delivery =
        new Delivery(
            threads,
            threads,
            new TransportConf("shuffle", new MapConfigProvider(Map.of())),
            true,
            counters,
            peer -> differences.incrementAndGet());
  }

  /** Number of reports that a peer's READ data differs from TCP. */
  public long differences() {
    return differences.get();
  }

  @Override
  public void fetch(
      Endpoint peer, List<BlockRange> ranges, DownloadFileManager files, FetchHandler handler) {
    BlockFetch fetch = new BlockFetch(peer, ranges, files, handler, answered -> {});
    ReadBatch batch = new ReadBatch(0, 0);
    List<BlockProgress> read = new ArrayList<>();
    try {
      for (BlockProgress block : fetch.blocks()) {
        read(block, batch.partOf(block));
        read.add(block);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    delivery.deliver(read);
  }

  private void read(BlockProgress block, ReadBatch.Part part) throws IOException {
    BlockRange range = block.range();
    MapOutput output = outputs.open(range.shuffleId(), range.mapId());
    long start = output.offset(range.startReduceId());
    int length = (int) (output.offset(range.endReduceId()) - start);
    RegisteredChunk chunk = sinks.tryTake().orElseThrow();
    ByteBuffer bytes = chunk.slice(0, length);
    try (FileChannel file = FileChannel.open(output.dataFile())) {
      while (bytes.hasRemaining() && file.read(bytes, start + bytes.position()) >= 0) {
        // Continues with the rest.
      }
    }
    int at = random.nextInt(length);
    bytes.put(at, (byte) (bytes.get(at) ^ (1 << random.nextInt(Byte.SIZE))));
    block.learn(length, outputs.checksumKind());
    part.add(new Segment(chunk, 0, length));
    for (int i = range.startReduceId(); i < range.endReduceId(); i++) {
      if (output.offset(i + 1) > output.offset(i)) {
        part.sum(output.offset(i + 1) - start, output.sum(i));
      }
    }
    block.commit(part);
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
