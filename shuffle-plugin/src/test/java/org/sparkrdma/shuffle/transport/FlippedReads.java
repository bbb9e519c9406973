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
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockFetch;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.Delivery;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;

/**
 * A transport whose READs flip one bit of every block in registered memory and pass it to the real
 * delivery.
 */
public final class FlippedReads implements BlockTransport, AutoCloseable {
  private final MapOutputs outputs;
  private final ReceiveMemory receive;
  private final Random random;
  private final ExecutorService threads = Executors.newSingleThreadExecutor();
  private final AtomicLong differences = new AtomicLong();
  private final Delivery delivery;

  /**
   * @param sinks memory for the blocks
   * @param random where the bit is
   */
  public FlippedReads(
      MapOutputs outputs, RegisteredPool sinks, ShuffleCounters counters, Random random) {
    this.outputs = outputs;
    this.receive = new ReceiveMemory(sinks, 0);
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
    List<BlockProgress> read = new ArrayList<>();
    try {
      for (BlockProgress block : fetch.blocks()) {
        read(block);
        read.add(block);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    delivery.deliver(read);
  }

  private void read(BlockProgress block) throws IOException {
    BlockRange range = block.range();
    MapOutput output = outputs.open(range.shuffleId(), range.mapId());
    long start = output.offset(range.startReduceId());
    int length = (int) (output.offset(range.endReduceId()) - start);
    byte[] bytes = new byte[length];
    try (FileChannel file = FileChannel.open(output.dataFile())) {
      file.read(ByteBuffer.wrap(bytes), start);
    }
    bytes[random.nextInt(length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
    block.acceptLayout(length, outputs.checksumKind());
    if (!block.tryReserve(receive)) {
      throw new IOException("no receive memory for " + range);
    }
    int placed = 0;
    while (placed < length) {
      int step = block.addSink(receive, length - placed);
      receive.sinkChunk().slice(receive.sinkEnd() - step, step).put(bytes, placed, step);
      placed += step;
    }
    for (int i = range.startReduceId(); i < range.endReduceId(); i++) {
      if (output.offset(i + 1) > output.offset(i)) {
        block.addSum(output.offset(i + 1) - start, output.sum(i));
      }
    }
    block.commitPart();
  }

  @Override
  public void close() {
    threads.shutdown();
    receive.closeOpenChunk();
  }
}
