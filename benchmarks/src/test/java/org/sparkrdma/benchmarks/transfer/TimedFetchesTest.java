// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TimedFetchesTest {
  private static final long BLOCK_NS = 10;

  private final AnsweringClient client = new AnsweringClient();
  private final List<String> read = new ArrayList<>();
  private final TimedFetches fetches =
      new TimedFetches(
          client,
          new Peers.Address("0", "127.0.0.1", 7_777),
          (blockId, in) -> {
            read.add(blockId);
            client.nowNs += 1_000;
          },
          () -> client.nowNs);

  @Test
  void shouldTimeARequestToItsLastBlockWithoutTheReading() throws Exception {
    assertThat(fetches.fetch(new String[] {"a", "b", "c"})).isEqualTo(3 * BLOCK_NS);
    assertThat(read).containsExactly("a", "b", "c");
    assertThat(fetches.fetch(new String[] {"d"})).isEqualTo(BLOCK_NS);
  }

  @Test
  void shouldReleaseEveryBlock() throws Exception {
    fetches.fetch(new String[] {"a", "b"});
    // One count of the client itself.
    assertThat(client.counts).containsExactly(1, 1);
  }

  @Test
  void shouldFailWithTheCauseWhenABlockFails() {
    client.failure = new IOException("no route");
    assertThatThrownBy(() -> fetches.fetch(new String[] {"a"}))
        .isInstanceOf(IOException.class)
        .hasMessage("block a failed")
        .hasCause(client.failure);
  }

  /** Answers at once, on the caller's thread. */
  private static final class AnsweringClient extends BlockStoreClient {
    private final List<Integer> counts = new ArrayList<>();
    private long nowNs;
    private IOException failure;

    @Override
    public void fetchBlocks(
        String host,
        int port,
        String executorId,
        String[] blockIds,
        BlockFetchingListener listener,
        DownloadFileManager files) {
      for (String blockId : blockIds) {
        nowNs += BLOCK_NS;
        if (failure != null) {
          listener.onBlockFetchFailure(blockId, failure);
        } else {
          listener.onBlockFetchSuccess(blockId, new CountedBuffer(counts));
        }
      }
    }

    @Override
    public void close() {}
  }

  /** A buffer of which the client has one count. */
  private static final class CountedBuffer extends NioManagedBuffer {
    private final List<Integer> counts;
    private final int index;

    CountedBuffer(List<Integer> counts) {
      super(ByteBuffer.allocate(8));
      this.counts = counts;
      this.index = counts.size();
      counts.add(1);
    }

    @Override
    public ManagedBuffer retain() {
      counts.set(index, counts.get(index) + 1);
      return this;
    }

    @Override
    public ManagedBuffer release() {
      counts.set(index, counts.get(index) - 1);
      return this;
    }
  }
}
