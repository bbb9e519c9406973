// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.TaskThreads;

/** Delivery with one thread of each kind, where a test does not say otherwise. */
@Timeout(60)
class BlockedDiskTest {
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(15);

  private final ExecutorService threads = Executors.newSingleThreadExecutor();
  private final ExecutorService diskThreads = Executors.newSingleThreadExecutor();
  private final TransportConf conf = new TransportConf("shuffle", new MapConfigProvider(Map.of()));
  private final Delivery delivery =
      new Delivery(threads, diskThreads, conf, true, new ShuffleCounters(), peer -> {});
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

  @Test
  void shouldAnswerAFailedBlockBeforeItsFileCanBeDeleted() throws Exception {
    BlockedDisk disk = new BlockedDisk();
    delivery.writeToDisk(block("written", disk), rest -> {});
    disk.reached.await();
    TestFile file = new TestFile();
    BlockProgress failed = block("failed", files(file));
    failed.disk().create(conf);
    failed.disk().open(0, failed.sums());

    delivery.fail(failed, FallbackReason.TIMEOUT, "on purpose");

    assertThat(answers.poll(30, TimeUnit.SECONDS)).isEqualTo("failed TIMEOUT");
    assertThat(file.deleted.getCount()).isEqualTo(1);
    disk.works.countDown();
    assertThat(file.deleted.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void shouldSendBlocksToTcpThatWaitTooLongForABlockedDisk() throws Exception {
    BlockedDisk disk = new BlockedDisk();
    TestFile file = new TestFile();
    delivery.writeToDisk(block("hanging", disk), rest -> {});
    disk.reached.await();
    delivery.writeToDisk(block("waiting", files(file)), rest -> {});

    delivery.failOverdueWrites(1_000, LIMIT_NS);
    delivery.failOverdueWrites(999 + LIMIT_NS, LIMIT_NS);
    assertThat(answers).isEmpty();
    delivery.failOverdueWrites(1_000 + LIMIT_NS, LIMIT_NS);

    assertThat(answers.poll(30, TimeUnit.SECONDS)).isEqualTo("hanging DISK");
    assertThat(answers.poll(30, TimeUnit.SECONDS)).isEqualTo("waiting DISK");
    delivery.failOverdueWrites(2_000 + 2 * LIMIT_NS, LIMIT_NS);
    disk.works.countDown();
    end(diskThreads);
    end(threads);
    assertThat(answers).as("none is answered twice").isEmpty();
    assertThat(file.opened).isFalse();
  }

  @Test
  void shouldForgetWritesThatHaveEnded() throws Exception {
    BlockedDisk disk = new BlockedDisk();
    disk.works.countDown();
    delivery.writeToDisk(block("failed", disk), rest -> {});
    end(diskThreads);
    delivery.failOverdueWrites(0, LIMIT_NS);
    delivery.failOverdueWrites(LIMIT_NS, LIMIT_NS);
    end(threads);
    assertThat(answers).containsExactly("failed DISK");
  }

  @Test
  void shouldWriteToADirectoryWhileAllWritesToAnotherHang() throws Exception {
    TaskThreads many = manyThreads();
    Delivery delivers = TestDelivery.on(threads, many, new ShuffleCounters());
    CountDownLatch works = new CountDownLatch(1);
    int hung = 2 * DirectoryQueues.MAX_THREADS;
    for (int i = 0; i < hung; i++) {
      HungFile file = new HungFile("/hung/blockmgr-1/0" + i % 8 + "/temp_shuffle_" + i, works);
      delivers.writeToDisk(block("hung", files(file)), rest -> {});
    }
    CountDownLatch fails = new CountDownLatch(0);
    HungFile other = new HungFile("/other/blockmgr-1/00/temp_shuffle_9", fails);
    delivers.writeToDisk(block("other", files(other)), rest -> {});

    assertThat(answers.poll(30, TimeUnit.SECONDS)).isEqualTo("other DISK");
    assertThat(answers).isEmpty();
    works.countDown();
    for (int i = 0; i < hung; i++) {
      assertThat(answers.poll(30, TimeUnit.SECONDS)).isEqualTo("hung DISK");
    }
    many.close();
    assertThat(many.await(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void shouldWriteToADirectoryWhileNineFilesCannotBeCreatedInAnother() throws Exception {
    TaskThreads many = manyThreads();
    Delivery delivers = TestDelivery.on(threads, many, new ShuffleCounters());
    BlockedDisk disk = new BlockedDisk();
    for (int i = 0; i < 9; i++) {
      delivers.writeToDisk(block("hung", disk), rest -> {});
    }
    HungFile other = new HungFile("/other/blockmgr-1/00/temp_shuffle_9", new CountDownLatch(0));
    delivers.writeToDisk(block("other", files(other)), rest -> {});

    assertThat(answers.poll(30, TimeUnit.SECONDS)).isEqualTo("other DISK");
    disk.works.countDown();
    many.close();
    assertThat(many.await(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void shouldReleaseAnOverdueWriteWhenItsFileIsCreatedInADirectoryThatHangs() throws Exception {
    TaskThreads many = manyThreads();
    Delivery delivers = TestDelivery.on(threads, many, new ShuffleCounters());
    CountDownLatch works = new CountDownLatch(1);
    for (int i = 0; i < 4; i++) {
      HungFile hung = new HungFile("/hung/blockmgr-1/00/temp_shuffle_" + i, works);
      delivers.writeToDisk(block("hung", files(hung)), rest -> {});
      hung.reached.await();
    }
    TestFile file = new TestFile("/hung/blockmgr-1/00/temp_shuffle_4");
    BlockedDisk disk = new BlockedDisk();
    disk.created = file;
    delivers.writeToDisk(block("created", disk), rest -> {});
    disk.reached.await();
    delivers.failOverdueWrites(0, LIMIT_NS);
    delivers.failOverdueWrites(LIMIT_NS, LIMIT_NS);
    for (String name : List.of("hung", "hung", "hung", "hung", "created")) {
      assertThat(answers.poll(30, TimeUnit.SECONDS)).isEqualTo(name + " DISK");
    }

    disk.works.countDown();

    assertThat(file.deleted.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(file.opened).isFalse();
    works.countDown();
    many.close();
    assertThat(many.await(Duration.ofSeconds(30))).isTrue();
    end(threads);
    assertThat(answers).as("none is answered twice").isEmpty();
  }

  @Test
  void shouldNotWaitForADiskOnTheCallersThreadWhenThereIsNoMemoryForAHandOver() {
    Executor withoutMemory =
        work -> {
          throw new OutOfMemoryError("thrown by the test");
        };
    Delivery delivers = TestDelivery.on(threads, withoutMemory, new ShuffleCounters());
    BlockedDisk disk = new BlockedDisk();
    disk.works.countDown();

    assertThatThrownBy(() -> delivers.writeToDisk(block("block", disk), rest -> {}))
        .isInstanceOf(OutOfMemoryError.class);

    assertThat(disk.reached.getCount()).as("no file was created").isEqualTo(1);
  }

  private static TaskThreads manyThreads() {
    return new TaskThreads(
        TaskThreads.named("test"), 1, DirectoryQueues.MAX_THREADS, Duration.ofSeconds(30));
  }

  private static void end(ExecutorService executor) throws InterruptedException {
    executor.shutdown();
    assertThat(executor.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
  }

  private static DownloadFileManager files(DownloadFile file) {
    return new DownloadFileManager() {
      @Override
      public DownloadFile createTempFile(TransportConf conf) {
        return file;
      }

      @Override
      public boolean registerTempFileToClean(DownloadFile temp) {
        return true;
      }
    };
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

  /** A file that takes no bytes. */
  private static final class TestFile implements DownloadFile {
    private final CountDownLatch deleted = new CountDownLatch(1);
    private final String path;
    private volatile boolean opened;

    TestFile() {
      this("test");
    }

    TestFile(String path) {
      this.path = path;
    }

    @Override
    public boolean delete() {
      deleted.countDown();
      return true;
    }

    @Override
    public DownloadFileWritableChannel openForWriting() {
      opened = true;
      return new DownloadFileWritableChannel() {
        @Override
        public ManagedBuffer closeAndRead() {
          throw new IllegalStateException("not expected");
        }

        @Override
        public int write(ByteBuffer bytes) {
          throw new IllegalStateException("not expected");
        }

        @Override
        public boolean isOpen() {
          return true;
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public String path() {
      return path;
    }
  }

  /** A file that cannot be opened until its disk works, and then neither. */
  private static final class HungFile implements DownloadFile {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final String path;
    private final CountDownLatch works;

    HungFile(String path, CountDownLatch works) {
      this.path = path;
      this.works = works;
    }

    @Override
    public String path() {
      return path;
    }

    @Override
    public boolean delete() {
      return true;
    }

    @Override
    public DownloadFileWritableChannel openForWriting() {
      reached.countDown();
      try {
        works.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new IllegalStateException("disk failed in the test");
    }
  }

  /** Creates no file until it is released; then a given one, or it fails. */
  private static final class BlockedDisk implements DownloadFileManager {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch works = new CountDownLatch(1);
    private volatile DownloadFile created;

    @Override
    public DownloadFile createTempFile(TransportConf conf) {
      reached.countDown();
      try {
        works.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (created != null) {
        return created;
      }
      throw new IllegalStateException("disk failed in the test");
    }

    @Override
    public boolean registerTempFileToClean(DownloadFile file) {
      return true;
    }
  }
}
