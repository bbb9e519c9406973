// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.ReceivePool;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;

/** A transport whose READs flip one bit of every block in registered memory and deliver it. */
public final class FlippedReads implements BlockTransport, AutoCloseable {
  private final MapOutputs outputs;
  private final ReceivePool receive;
  private final Random random;
  private final ExecutorService threads = Executors.newSingleThreadExecutor();
  private final AtomicLong differences = new AtomicLong();

  /**
   * @param sinks memory for the blocks
   * @param random where the bit is
   */
  public FlippedReads(
      MapOutputs outputs, RegisteredPool sinks, ShuffleCounters counters, Random random) {
    this.outputs = outputs;
    this.receive = new ReceivePool(sinks, counters);
    this.random = random;
  }

  /** Number of reports that a peer's READ data differs from TCP. */
  public long differences() {
    return differences.get();
  }

  @Override
  public void fetch(FetchRequest request) {
    request.fetchedBy(this);
    List<BlockProgress> read = new ArrayList<>();
    try {
      for (int i = 0; i < request.ranges().size(); i++) {
        BlockProgress block = new BlockProgress(request, i, false, 0);
        read(block);
        read.add(block);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    threads.execute(() -> read.forEach(BlockProgress::deliver));
  }

  @Override
  public void onCorruptData(FetchRequest request) {
    differences.incrementAndGet();
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
    if (!block.tryTakeMemory(receive)) {
      throw new IOException("no receive memory for " + range);
    }
    int placed = 0;
    while (placed < length) {
      int step = block.addSink(length - placed);
      block.sinkChunk().slice(block.sinkOffset(), step).put(bytes, placed, step);
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
