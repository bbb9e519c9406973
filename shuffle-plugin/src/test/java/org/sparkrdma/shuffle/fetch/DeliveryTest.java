// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.SameThreadExecutor;

/** Errors at each step from the agent through the delivery to the handler. */
class DeliveryTest implements FetchHandler {
  private final List<String> answers = new ArrayList<>();
  private final List<BlockFetch> finished = new ArrayList<>();
  private Error thrown;
  private boolean closed;
  private boolean runsTwice;

  private final Delivery delivery =
      TestDelivery.on(new Threads(), new Threads(), new ShuffleCounters());

  @Test
  void shouldDeliverOnItsCallersThreadWhenTheExecutorStops() {
    closed = true;
    BlockFetch fetch = fetch(null);
    delivery.deliver(list(located(fetch, 0)));
    delivery.fail(fetch.blocks().get(1), FallbackReason.TIMEOUT, "late");
    assertThat(answers).containsExactly("0 fetched", "1 timeout");
    assertThat(finished).containsExactly(fetch);
  }

  @Test
  void shouldDeliverAListOnceThoughItsThreadRunsTwice() {
    BlockFetch fetch = fetch(null);
    runsTwice = true;
    delivery.deliver(list(located(fetch, 0)));
    assertThat(delivery.emptyList()).isNotSameAs(delivery.emptyList());
    assertThat(answers).containsExactly("0 fetched");
  }

  @Test
  void shouldDeliverTheOtherBlocksWhenAHandlerThrows() {
    thrown = new AssertionError("thrown by the test");
    BlockFetch fetch = fetch(null);
    delivery.deliver(list(located(fetch, 0), located(fetch, 1)));
    delivery.fail(fetch.blocks().get(1), FallbackReason.TIMEOUT, "late");
    assertThat(answers)
        .as("the handler decides whether it has answered")
        .containsExactly("0 fetched", "0 read-error", "1 fetched", "1 read-error");
    assertThat(finished).containsExactly(fetch);
  }

  @Test
  void shouldAnswerTheLastBlockWhenTheEndOfTheRequestThrows() {
    BlockFetch fetch =
        fetch(
            null,
            ended -> {
              throw new OutOfMemoryError("thrown by the test");
            });
    delivery.deliver(list(located(fetch, 0), located(fetch, 1)));
    assertThat(answers).containsExactly("0 fetched", "1 fetched");
  }

  @Test
  void shouldAnswerTheOthersWhenNoLineCanBeLogged() {
    thrown = new OutOfMemoryError("thrown by the test");
    DeliveryLog log =
        new DeliveryLog(
            () -> {
              throw new OutOfMemoryError("thrown by the test");
            });
    fetch(null).failRest(FallbackReason.STOPPED, "transport agent failed", log, disks());
    assertThat(answers).contains("0 stopped", "1 stopped");
  }

  private DirectoryQueues disks() {
    return new DirectoryQueues(new Threads());
  }

  @Test
  void shouldDeliverTheOtherBlocksWhenOneCannotReleaseItsMemory() {
    BlockFetch fetch = fetch(null);
    BlockProgress broken = located(fetch, 0);
    // A grant of no pool: its end throws.
    broken.copyGranted = true;
    delivery.deliver(list(broken, located(fetch, 1)));
    assertThat(answers).containsExactly("0 read-error", "1 fetched");
  }

  @Test
  void shouldSendABlockByTcpWhenItsFileEndsInAnError() {
    BlockFetch fetch =
        fetch(
            new DownloadFileManager() {
              @Override
              public DownloadFile createTempFile(TransportConf conf) {
                throw new OutOfMemoryError("thrown by the test");
              }

              @Override
              public boolean registerTempFileToClean(DownloadFile file) {
                return true;
              }
            });
    delivery.writeToDisk(located(fetch, 0), rest -> {});
    assertThat(answers).containsExactly("0 disk");
  }

  @Test
  void shouldAnswerEachBlockOnceWhenTheAgentFailsDuringDelivery() {
    BlockFetch fetch = fetch(null);
    BlockProgress first = located(fetch, 0);
    delivery.deliver(list(first));
    fetch.failRest(FallbackReason.STOPPED, "transport agent failed", new DeliveryLog(), disks());
    delivery.deliver(list(located(fetch, 1)));
    delivery.fail(first, FallbackReason.LOST_PEER, "late");
    assertThat(answers).containsExactly("0 fetched", "1 stopped");
    assertThat(finished).containsExactly(fetch);
  }

  @Test
  void shouldAnswerTheOthersWhenAHandlerThrowsWhileTheAgentFails() {
    thrown = new OutOfMemoryError("thrown by the test");
    BlockFetch fetch = fetch(null);
    fetch.failRest(FallbackReason.STOPPED, "transport agent failed", new DeliveryLog(), disks());
    assertThat(answers).containsExactly("0 stopped", "0 stopped", "1 stopped", "1 stopped");
  }

  @Test
  void shouldWriteOneLineOfEachKindForManyFailuresOfAPeer() {
    thrown = new OutOfMemoryError("thrown by the test");
    long[] nowNs = {0};
    DeliveryLog log = new DeliveryLog(() -> nowNs[0]);
    try (CapturedLog captured = new CapturedLog(DeliveryLog.class.getName())) {
      for (int i = 0; i < 50; i++) {
        fetch(null).failRest(FallbackReason.STOPPED, "transport agent failed", log, disks());
        log.notHandedToAgent(fetch(null), thrown);
      }
      nowNs[0] = TimeUnit.SECONDS.toNanos(10);
      fetch(null).failRest(FallbackReason.STOPPED, "transport agent failed", log, disks());
      log.notHandedToAgent(fetch(null), thrown);
      String agent = "Cannot hand a fetch to the transport agent; its blocks use TCP";
      String omitted = "; lines like this that were omitted before: ";
      assertThat(captured.warnings()).hasSize(4);
      assertThat(captured.warnings().get(0)).startsWith("Block handler threw an exception");
      assertThat(captured.warnings().get(1)).isEqualTo(agent);
      assertThat(captured.warnings().get(2)).endsWith(omitted + 99);
      assertThat(captured.warnings().get(3)).isEqualTo(agent + omitted + 49);
    }
  }

  private List<BlockProgress> list(BlockProgress... blocks) {
    List<BlockProgress> list = delivery.emptyList();
    assertThat(list).isEmpty();
    list.addAll(List.of(blocks));
    return list;
  }

  private BlockFetch fetch(DownloadFileManager files) {
    return fetch(files, finished::add);
  }

  private BlockFetch fetch(DownloadFileManager files, Consumer<BlockFetch> allAnswered) {
    Endpoint peer =
        new Endpoint("1", TestAddresses.listener("127.0.0.1", 1), "soft", 1, 1, new byte[32]);
    List<BlockRange> blocks = List.of(new BlockRange(0, 0, 0, 1), new BlockRange(0, 0, 1, 2));
    return new BlockFetch(peer, blocks, files, this, allAnswered);
  }

  private static BlockProgress located(BlockFetch fetch, int index) {
    BlockProgress block = fetch.blocks().get(index);
    block.acceptLayout(0, 0);
    return block;
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
    answers.add(answer);
    if (thrown != null) {
      throw thrown;
    }
  }

  /** Runs at once, or throws like threads that are closed. */
  private final class Threads extends SameThreadExecutor {
    @Override
    public void execute(Runnable task) {
      if (closed) {
        throw new RejectedExecutionException("closed");
      }
      task.run();
      if (runsTwice) {
        task.run();
      }
    }
  }
}
