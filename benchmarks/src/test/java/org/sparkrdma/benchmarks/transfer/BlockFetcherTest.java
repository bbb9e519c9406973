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
class BlockFetcherTest {
  private static final int BLOCK_BYTES = 1 << 20;
  private static final Peers.Address SERVER = new Peers.Address("0", "127.0.0.1", 7_777);

  private final BlockSum sum = new BlockSum(true);
  private final AnsweringClient client = new AnsweringClient();

  @Test
  void shouldReadEveryBlockAndKeepTheInFlightLimit() throws Exception {
    List<String[]> plan = FetchPlan.of(new Layout(BLOCK_BYTES, 2, 64), 0);
    fetch(plan, BLOCK_BYTES);

    assertThat(client.asked).hasSize(plan.size());
    // The block that is being read is not in flight any more, as in Spark's fetcher.
    assertThat(client.maxBytesInFlight).isEqualTo(FetchPlan.MAX_BYTES_IN_FLIGHT + BLOCK_BYTES);
    BlockSum expected = new BlockSum(true);
    for (String[] request : plan) {
      for (String blockId : request) {
        client.addTo(expected);
        expected.endBlock(blockId);
      }
    }
    assertThat(sum.total()).isEqualTo(expected.total());
  }

  @Test
  void shouldAskForABlockLargerThanAllThatMayBeInFlight() throws Exception {
    client.answerBytes = 64 << 20;
    fetch(List.of(new String[] {"a"}, new String[] {"b"}), 64 << 20);
    assertThat(client.asked).hasSize(2);
  }

  @Test
  void shouldFailWithTheCauseWhenABlockFails() {
    client.failure = new IOException("no route");
    assertThatThrownBy(() -> fetch(List.<String[]>of(new String[] {"shuffle_0_0_0"}), BLOCK_BYTES))
        .isInstanceOf(IOException.class)
        .hasMessage("block shuffle_0_0_0 failed")
        .hasCause(client.failure);
  }

  @Test
  void shouldFailWhenABlockIsShort() {
    client.answerBytes = BLOCK_BYTES - 8;
    assertThatThrownBy(() -> fetch(List.<String[]>of(new String[] {"shuffle_0_0_0"}), BLOCK_BYTES))
        .hasMessage("block shuffle_0_0_0 has 1048568 bytes, not 1048576");
  }

  private void fetch(List<String[]> plan, int blockBytes) throws Exception {
    new BlockFetcher(client, SERVER, blockBytes, (id, in) -> sum.addBlock(id, in, blockBytes))
        .fetch(plan.iterator());
  }

  /** Answers at once, on the caller's thread. */
  private static final class AnsweringClient extends BlockStoreClient {
    private final List<String[]> asked = new ArrayList<>();
    private int answerBytes = BLOCK_BYTES;
    private IOException failure;
    private long bytesInFlight;
    private long maxBytesInFlight;

    @Override
    public void fetchBlocks(
        String host,
        int port,
        String executorId,
        String[] blockIds,
        BlockFetchingListener listener,
        DownloadFileManager files) {
      asked.add(blockIds);
      bytesInFlight += (long) blockIds.length * answerBytes;
      maxBytesInFlight = Math.max(maxBytesInFlight, bytesInFlight);
      for (String blockId : blockIds) {
        if (failure != null) {
          listener.onBlockFetchFailure(blockId, failure);
        } else {
          listener.onBlockFetchSuccess(blockId, answer());
        }
      }
    }

    private ManagedBuffer answer() {
      return new NioManagedBuffer(ByteBuffer.allocate(answerBytes)) {
        @Override
        public ManagedBuffer release() {
          bytesInFlight -= answerBytes;
          return this;
        }
      };
    }

    private void addTo(BlockSum expected) {
      byte[] chunk = new byte[BlockSum.CHUNK_BYTES];
      for (int i = 0; i < answerBytes; i += chunk.length) {
        expected.add(chunk, chunk.length);
      }
    }

    @Override
    public void close() {}
  }
}
