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
import org.sparkrdma.shuffle.fetch.FetchedBlock;
import org.sparkrdma.shuffle.fetch.PartitionChecksums;
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
    List<FetchedBlock> read = new ArrayList<>();
    try {
      for (int i = 0; i < request.ranges().size(); i++) {
        read.add(read(request.ranges().get(i)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    threads.execute(
        () -> {
          for (int i = 0; i < read.size(); i++) {
            request.onFetched(i, read.get(i));
          }
        });
  }

  @Override
  public void onCorruptData(FetchRequest request) {
    differences.incrementAndGet();
  }

  private FetchedBlock read(BlockRange range) throws IOException {
    MapOutput output = outputs.open(range.shuffleId(), range.mapId());
    long start = output.offset(range.startReduceId());
    int length = (int) (output.offset(range.endReduceId()) - start);
    byte[] bytes = new byte[length];
    try (FileChannel file = FileChannel.open(output.dataFile())) {
      file.read(ByteBuffer.wrap(bytes), start);
    }
    bytes[random.nextInt(length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
    FetchedBlock block = receive.tryTake(length);
    if (block == null) {
      throw new IOException("no receive memory for " + range);
    }
    int placed = 0;
    while (placed < length) {
      int step = Math.min(length - placed, block.seek(placed));
      block.soughtChunk().slice(block.soughtOffset(), step).put(bytes, placed, step);
      placed += step;
    }
    PartitionChecksums sums = new PartitionChecksums();
    for (int i = range.startReduceId(); i < range.endReduceId(); i++) {
      if (output.offset(i + 1) > output.offset(i)) {
        sums.add(output.offset(i + 1) - start, output.sum(i));
      }
    }
    block.checksums(outputs.checksumKind(), sums);
    return block;
  }

  @Override
  public void close() {
    threads.shutdown();
    receive.closeOpenChunk();
  }
}
