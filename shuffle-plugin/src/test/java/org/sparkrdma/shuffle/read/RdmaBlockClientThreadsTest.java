// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.apache.spark.TaskContext$;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Work on threads of tasks, and while all threads for TCP wait for dead hosts. */
class RdmaBlockClientThreadsTest extends BlockClientFixture {
  @Test
  void shouldNotBlockTheTaskOnTheDirectory() throws InterruptedException {
    up.complete(transport);
    CompletableFuture<Optional<Endpoint>> lookup = new CompletableFuture<>();
    directory.put("7", lookup);
    fetch("shuffle_0_1_0");
    assertThat(transport.requests).isEmpty();
    lookup.complete(Optional.of(PEER));
    assertThat(transport.requests).hasSize(1);
  }

  @Test
  void shouldNotBlockTheTaskOnTheStartOfRdma() throws InterruptedException {
    directory.put("7", CompletableFuture.completedFuture(Optional.of(PEER)));
    fetch("shuffle_0_1_0");
    fetch("shuffle_0_2_0");
    up.complete(transport);
    assertThat(transport.requests).hasSize(2);
  }

  /** The host of a peer that has just answered by RDMA is alive. */
  @ParameterizedTest
  @EnumSource(
      value = FallbackReason.class,
      names = {"PEER_BUSY", "PEER_OVERLOADED", "PEER_UNKNOWN_BLOCK", "CORRUPT"})
  void shouldFetchByTcpFromAPeerThatAnswersWhileDeadOnesHoldTheOtherThreads(FallbackReason reason)
      throws InterruptedException {
    CountDownLatch never = holdAllTcpThreads();
    rdmaIsUp();
    fetch("shuffle_0_1_0");
    transport.requests.get(0).handler().onFailed(0, reason, "answered");
    assertThat(listener.awaitAnswers(1)).containsExactly("shuffle_0_1_0");
    never.countDown();
  }

  @Test
  void shouldUseSparksClientOnTheTasksThreadWhileDraining() throws InterruptedException {
    rdmaIsUp();
    RdmaBlockClient client = client();
    client.fetchBlocks(HOST, 7_337, "7", new String[] {"shuffle_0_1_0"}, listener, null);
    client.drain();
    tcp.close();
    client.fetchBlocks(HOST, 7_337, "7", new String[] {"shuffle_0_2_0"}, listener, null);
    assertThat(listener.awaitAnswers(1)).containsExactly("shuffle_0_2_0");
    assertThat(transport.requests).hasSize(1);
    transport.requests.get(0).handler().onFailed(0, FallbackReason.STOPPED, "executor stops");
    assertThat(listener.awaitAnswers(2)).hasSize(2);
    assertThat(listener.failures()).isEmpty();
  }

  @Test
  void shouldAddTheBytesOfARequestToTheStageOfTheTaskByPath() throws InterruptedException {
    rdmaIsUp();
    inATask(() -> fetch("shuffle_0_1_0", "shuffle_0_2_0", "shuffle_0_3_0", "rdd_1_2"));
    listener.awaitAnswers(1);
    var handler = transport.requests.get(0).handler();
    handler.onFetched(2, new FakeBuffer(100), 60);
    handler.onFetched(2, new FakeBuffer(100), 60);
    assertThat(counters.stages().list()).as("the request has not ended").endsWith(0L, 0L, 10L);
    handler.onFailed(0, FallbackReason.TIMEOUT, "late");
    handler.onFetched(1, new FakeBuffer(50));
    listener.awaitAnswers(4);
    long stage = TaskContext$.MODULE$.empty().stageId();
    assertThat(counters.stages().list()).isEqualTo(List.of(0L, stage, 150L, 60L, 20L));
  }

  @Test
  void shouldAddNothingToAStageForRequestsOfNoTask() throws InterruptedException {
    rdmaIsUp();
    fetch("shuffle_0_1_0");
    transport.requests.get(0).handler().onFetched(0, new FakeBuffer(100), 60);
    listener.awaitAnswers(1);
    assertThat(counters.stages().list()).isEmpty();
  }

  @Test
  void shouldIssueARequestOfATaskOnItsThreadWhileAddressesWithoutAnAnswerHoldAllThreads()
      throws InterruptedException {
    CountDownLatch never = holdAllTcpThreads();
    up.complete(transport);
    directory.put("7", CompletableFuture.completedFuture(Optional.empty()));
    inATask(() -> fetch("shuffle_0_1_0", "shuffle_0_2_0", "rdd_1_2"));
    assertThat(listener.awaitAnswers(3))
        .containsExactly("rdd_1_2", "shuffle_0_1_0", "shuffle_0_2_0");
    assertThat(spark.threads).contains(Thread.currentThread());
    never.countDown();
  }

  @Test
  void shouldNotWaitOnATasksThreadForSingleBlocksThatFail() throws InterruptedException {
    CountDownLatch never = holdAllTcpThreads();
    rdmaIsUp();
    inATask(
        () -> {
          fetch("shuffle_0_1_0", "shuffle_0_2_0");
          var handler = transport.requests.get(0).handler();
          handler.onFailed(0, FallbackReason.STOPPED, "closed");
          handler.onFailed(1, FallbackReason.STOPPED, "closed");
        });
    assertThat(spark.threads).doesNotContain(Thread.currentThread());
    never.countDown();
    assertThat(listener.awaitAnswers(2)).containsExactly("shuffle_0_1_0", "shuffle_0_2_0");
    assertThat(spark.threads).doesNotContain(Thread.currentThread());
  }

  @Test
  void shouldNotWaitOnATasksThreadForTheRequestOfAnother() throws InterruptedException {
    CountDownLatch never = holdAllTcpThreads();
    up.complete(transport);
    CompletableFuture<Optional<Endpoint>> found = new CompletableFuture<>();
    directory.put("7", found);
    Thread other = new Thread(() -> inATask(() -> fetch("shuffle_0_1_0")));
    other.start();
    other.join();
    inATask(() -> found.complete(Optional.empty()));
    assertThat(spark.threads).doesNotContain(Thread.currentThread());
    never.countDown();
    assertThat(listener.awaitAnswers(1)).containsExactly("shuffle_0_1_0");
  }

  /** Requests blocks from as many addresses without an answer as there are threads. */
  private CountDownLatch holdAllTcpThreads() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    for (int i = 0; i < VirtualPause.THREADS; i++) {
      String host = "dead" + i;
      spark.blackHoles.put(host, never);
      PeerAddress peer = new PeerAddress(host, host, 7_337);
      String[] blockIds = {"shuffle_9_" + i + "_0"};
      tcp.fetch(new TcpRequest(peer, 3, () -> blockIds, new RecordingListener(), null));
    }
    spark.awaitCalls(VirtualPause.THREADS);
    return never;
  }

  private static void inATask(Runnable work) {
    TaskContext$.MODULE$.setTaskContext(TaskContext$.MODULE$.empty());
    try {
      work.run();
    } finally {
      TaskContext$.MODULE$.unset();
    }
  }
}
