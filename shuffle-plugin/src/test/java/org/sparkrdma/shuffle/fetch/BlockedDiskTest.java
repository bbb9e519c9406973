// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/** Delivery with one thread of each kind. */
@Timeout(60)
class BlockedDiskTest {
  private final ExecutorService threads = Executors.newSingleThreadExecutor();
  private final ExecutorService diskThreads = Executors.newSingleThreadExecutor();
  private final Delivery delivery =
      new Delivery(
          threads,
          diskThreads,
          new TransportConf("shuffle", new MapConfigProvider(Map.of())),
          true,
          new ShuffleCounters(),
          peer -> {});
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

  @AfterEach
  void stop() {
    threads.shutdownNow();
    diskThreads.shutdownNow();
  }

  @Test
  void shouldAnswerOtherBlocksWhileADiskIsBlocked() throws Exception {
    BlockedDisk disk = new BlockedDisk();
    delivery.writeToDisk(block("written", disk), rest -> {});
    disk.reached.await();

    delivery.fail(block("failed", null), FallbackReason.TIMEOUT, "on purpose");
    delivery.deliver(new ArrayList<>(List.of(block("delivered", null))));

    assertThat(answers.poll(30, TimeUnit.SECONDS)).isEqualTo("failed TIMEOUT");
    assertThat(answers.poll(30, TimeUnit.SECONDS)).isEqualTo("delivered");
    disk.works.countDown();
    assertThat(answers.poll(30, TimeUnit.SECONDS)).isEqualTo("written DISK");
  }

  private BlockProgress block(String name, DownloadFileManager files) {
    List<BlockRange> ranges = List.of(new BlockRange(1, 1, 0, 1));
    BlockFetch fetch = new BlockFetch(null, ranges, files, new Handler(name), done -> {});
    BlockProgress block = fetch.blocks().get(0);
    block.acceptLayout(0, 0);
    return block;
  }

  /** Records the answer of a block. */
  private final class Handler implements FetchHandler {
    private final String name;

    Handler(String name) {
      this.name = name;
    }

    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      answers.add(name);
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      answers.add(name + " " + reason);
    }

    @Override
    public void onSuspect(int index, SuspectBlock suspect) {
      answers.add(name + " suspect");
    }
  }

  /** Creates no file until it is released, and fails then. */
  private static final class BlockedDisk implements DownloadFileManager {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch works = new CountDownLatch(1);

    @Override
    public DownloadFile createTempFile(TransportConf conf) {
      reached.countDown();
      try {
        works.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new IllegalStateException("disk failed in the test");
    }

    @Override
    public boolean registerTempFileToClean(DownloadFile file) {
      return true;
    }
  }
}
