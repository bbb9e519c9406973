// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.RefusingThreads;
import org.sparkrdma.shuffle.thread.TaskThreads;

/** The system refuses each thread but the first, of four. */
@Timeout(60)
class DeliveryThreadShortageTest implements FetchHandler {
  private final TaskThreads threads = threads();
  private final TaskThreads diskThreads = threads();
  private final Delivery delivery = TestDelivery.on(threads, diskThreads, new ShuffleCounters());
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private final Set<Thread> used = ConcurrentHashMap.newKeySet();

  private static TaskThreads threads() {
    return new TaskThreads(new RefusingThreads(1), 1, 4, Duration.ofSeconds(30));
  }

  @AfterEach
  void close() throws InterruptedException {
    threads.close();
    diskThreads.close();
    assertThat(threads.await(Duration.ofSeconds(30))).isTrue();
    assertThat(diskThreads.await(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void shouldNeverUseTheAgentsThread() throws InterruptedException {
    threads.start();
    diskThreads.start();
    List<BlockRange> ranges =
        IntStream.range(0, 30).mapToObj(i -> new BlockRange(0, 0, i, i + 1)).toList();
    BlockFetch fetch = new BlockFetch(null, ranges, new NoFiles(), this, done -> {});
    for (BlockProgress block : fetch.blocks()) {
      block.acceptLayout(0, 0);
      if (block.index() % 3 == 0) {
        List<BlockProgress> one = delivery.emptyList();
        one.add(block);
        delivery.deliver(one);
      } else if (block.index() % 3 == 1) {
        delivery.fail(block, FallbackReason.TIMEOUT, "late");
      } else {
        // Fails, because there is no file.
        delivery.writeToDisk(block, rest -> {});
      }
    }
    Set<String> answered = ConcurrentHashMap.newKeySet();
    for (int i = 0; i < ranges.size(); i++) {
      answered.add(answers.poll(30, TimeUnit.SECONDS));
    }
    assertThat(answered)
        .hasSize(30)
        .contains("0 fetched", "1 timeout", "2 disk", "27 fetched", "28 timeout", "29 disk");
    assertThat(answers).isEmpty();
    assertThat(used).hasSize(2).doesNotContain(Thread.currentThread());
  }

  private static final class NoFiles implements DownloadFileManager {
    @Override
    public DownloadFile createTempFile(TransportConf conf) {
      throw new IllegalStateException("thrown by the test");
    }

    @Override
    public boolean registerTempFileToClean(DownloadFile file) {
      return false;
    }
  }

  @Override
  public void onFetched(int index, ManagedBuffer buffer) {
    answer(index + " fetched");
  }

  @Override
  public void onFailed(int index, FallbackReason reason, String detail) {
    answer(index + " " + reason.label());
  }

  @Override
  public void onSuspect(int index, SuspectBlock suspect) {
    answer(index + " suspect");
  }

  private void answer(String answer) {
    used.add(Thread.currentThread());
    answers.add(answer);
  }
}
