// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.TaskContext$;
import org.apache.spark.network.shuffle.MergedBlockMeta;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.EndpointLookup;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FailingCounters;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

@Timeout(30)
class RdmaBlockClientTest {
  private static final Endpoint PEER =
      new Endpoint("7", TestAddresses.listener("10.0.0.7", 4_711), "soft", 1, 1, new byte[32]);
  private static final String HOST = "host7";

  private final FakeSparkClient spark = new FakeSparkClient();
  private final FakeTransport transport = new FakeTransport();
  private final CompletableFuture<BlockTransport> up = new CompletableFuture<>();
  private final Map<String, CompletableFuture<Optional<Endpoint>>> directory = new HashMap<>();
  private final ShuffleCounters counters = new ShuffleCounters();
  private final VirtualPause pause = new VirtualPause();
  private final TcpFallback tcp = pause.tcp(spark, counters);
  private final RecordingListener listener = new RecordingListener();

  @AfterEach
  void close() {
    tcp.close();
  }

  @Test
  void shouldUseTheTransportAtOnceForAKnownPeer() throws InterruptedException {
    rdmaIsUp();
    fetch("shuffle_0_11_3", "shuffle_0_12_4_9");
    FakeTransport.Request request = transport.requests.get(0);
    assertThat(request.peer()).isSameAs(PEER);
    assertThat(request.blocks())
        .containsExactly(new BlockRange(0, 11, 3, 4), new BlockRange(0, 12, 4, 9));
    request.handler().onFetched(1, new FakeBuffer(100));
    request.handler().onFetched(0, new FakeBuffer(50));
    assertThat(listener.awaitAnswers(2)).containsExactly("shuffle_0_12_4_9", "shuffle_0_11_3");
    assertThat(counters.value(Counter.RDMA_BYTES_READ)).isEqualTo(150);
    assertThat(counters.value(Counter.RDMA_BLOCKS_READ)).isEqualTo(2);
    assertThat(spark.calls()).isEmpty();
  }

  @Test
  void shouldMakeNoFutureForARequestToAKnownPeer() {
    CountedFuture<BlockTransport> started = new CountedFuture<>();
    CountedFuture<Optional<Endpoint>> found = new CountedFuture<>();
    RdmaBlockClient client = new RdmaBlockClient(spark, started, id -> found, tcp, counters);
    started.complete(transport);
    String[] blocks = {"shuffle_0_1_0"};
    client.fetchBlocks(HOST, 7_337, "7", blocks, listener, null);
    assertThat(transport.requests).as("waits for the endpoint").isEmpty();
    assertThat(started.dependents + found.dependents).isPositive();
    found.complete(Optional.of(PEER));
    assertThat(transport.requests).hasSize(1);
    int before = started.dependents + found.dependents;
    client.fetchBlocks(HOST, 7_337, "7", blocks, listener, null);
    assertThat(transport.requests).hasSize(2);
    assertThat(started.dependents + found.dependents).isEqualTo(before);
  }

  /** Counts the futures that are made from it. */
  private static final class CountedFuture<T> extends CompletableFuture<T> {
    private int dependents;

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
      dependents++;
      return new CompletableFuture<>();
    }
  }

  @Test
  void shouldFetchByTcpWhenTheTransportThrowsAnErrorOnTheTasksThread() throws InterruptedException {
    rdmaIsUp();
    transport.thrown = new OutOfMemoryError("thrown by the test");
    fetch("shuffle_0_1_0", "shuffle_0_2_0");
    assertThat(listener.awaitAnswers(2)).hasSize(2);
    assertThat(listener.failures()).isEmpty();
    assertThat(counters.value(FallbackReason.READ_ERROR)).isEqualTo(2);
  }

  @Test
  void shouldForwardOtherKindsOfBlocksToSpark() throws InterruptedException {
    rdmaIsUp();
    fetch("shuffleChunk_0_0_3_1", "shuffle_0_11_3", "rdd_1_2");
    assertThat(listener.awaitAnswers(2)).containsExactly("shuffleChunk_0_0_3_1", "rdd_1_2");
    assertThat(spark.calls())
        .containsExactly(
            new FakeSparkClient.Call(HOST, 7_337, "7", List.of("shuffleChunk_0_0_3_1", "rdd_1_2")));
    assertThat(transport.requests).hasSize(1);
    assertThat(counters.value(Counter.TCP_BYTES_READ)).isEqualTo(20);
  }

  @Test
  void shouldFetchByTcpInOneRequestFromAPeerWithoutEndpoint() throws InterruptedException {
    up.complete(transport);
    directory.put("7", CompletableFuture.completedFuture(Optional.empty()));
    fetch("shuffle_0_1_0", "shuffle_0_2_0", "shuffle_0_3_0");
    listener.awaitAnswers(3);
    assertThat(spark.calls()).hasSize(1);
    assertThat(counters.value(FallbackReason.NO_ENDPOINT)).isEqualTo(3);
    assertThat(counters.value(Counter.TCP_BLOCKS_READ)).isEqualTo(3);
    assertThat(counters.value(Counter.FALLBACK_BYTES_READ)).as("the peer has no RDMA").isZero();
    assertThat(transport.requests).isEmpty();
  }

  @Test
  void shouldFetchOnlyTheFailedBlocksByTcp() throws InterruptedException {
    rdmaIsUp();
    fetch("shuffle_0_1_0", "shuffle_0_2_0");
    var handler = transport.requests.get(0).handler();
    handler.onFailed(1, FallbackReason.PEER_BUSY, "no room");
    handler.onFetched(0, new FakeBuffer(5));
    assertThat(listener.awaitAnswers(2))
        .containsExactlyInAnyOrder("shuffle_0_1_0", "shuffle_0_2_0");
    assertThat(spark.calls())
        .extracting(FakeSparkClient.Call::blockIds)
        .containsExactly(List.of("shuffle_0_2_0"));
    assertThat(counters.value(FallbackReason.PEER_BUSY)).isEqualTo(1);
    assertThat(counters.value(Counter.FALLBACK_BYTES_READ))
        .isEqualTo(counters.value(Counter.TCP_BYTES_READ))
        .isPositive();
    assertThat(listener.failures()).isEmpty();
  }

  @Test
  void shouldCollectFailuresDuringATcpConnect() throws InterruptedException {
    rdmaIsUp();
    CountDownLatch connecting = new CountDownLatch(1);
    spark.blackHoles.put(HOST, connecting);
    fetch("rdd_0_0");
    fetch("shuffle_0_1_0", "shuffle_0_2_0", "shuffle_0_3_0");
    for (int i = 0; i < 3; i++) {
      transport.requests.get(0).handler().onFailed(i, FallbackReason.TIMEOUT, "late");
    }
    connecting.countDown();
    listener.awaitAnswers(4);
    assertThat(spark.calls()).extracting(call -> call.blockIds().size()).containsExactly(1, 3);
  }

  @Test
  void shouldAnswerEachBlockOnceForAnyTransportResult() throws InterruptedException {
    rdmaIsUp();
    fetch("shuffle_0_1_0", "shuffle_0_2_0");
    var handler = transport.requests.get(0).handler();
    handler.onFailed(0, FallbackReason.TIMEOUT, "late");
    handler.onFetched(0, new FakeBuffer(5));
    handler.onFailed(0, FallbackReason.LOST_PEER, "again");
    handler.onFetched(1, new FakeBuffer(5));
    handler.onFetched(1, new FakeBuffer(5));
    assertThat(listener.awaitAnswers(2)).hasSize(2);
    tcp.close();
    assertThat(listener.awaitAnswers(2)).hasSize(2);
    assertThat(counters.value(FallbackReason.LOST_PEER)).isZero();
  }

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

  /** A future cannot even keep the Error of one request while memory is short. */
  @Test
  void shouldAnswerAllRequestsThatWaitedThoughTheAnswerOfOneThrows() throws InterruptedException {
    AtomicInteger steps = new AtomicInteger();
    ShuffleCounters failing =
        FailingCounters.with(
            () -> {
              if (steps.incrementAndGet() == 1) {
                throw new LastingError();
              }
            });
    directory.put("7", CompletableFuture.completedFuture(Optional.of(PEER)));
    RdmaBlockClient client = new RdmaBlockClient(spark, up, directory::get, tcp, failing);
    for (int map = 1; map <= 3; map++) {
      String[] blockIds = {"shuffle_0_" + map + "_0"};
      client.fetchBlocks(HOST, 7_337, "7", blockIds, listener, null);
    }
    transport.thrown = new OutOfMemoryError("thrown by the test");

    up.complete(transport);

    assertThat(steps).hasValueGreaterThanOrEqualTo(1);
    assertThat(listener.awaitAnswers(3)).hasSize(3);
    assertThat(listener.failures()).isEmpty();
  }

  /** An Error that no exception can have as its cause. */
  private static final class LastingError extends Error {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw this;
    }
  }

  @Test
  void shouldFetchByTcpWhenRdmaDoesNotStart() throws InterruptedException {
    directory.put("7", CompletableFuture.completedFuture(Optional.of(PEER)));
    fetch("shuffle_0_1_0");
    up.complete(BlockTransport.UNAVAILABLE);
    fetch("shuffle_0_2_0");
    listener.awaitAnswers(2);
    assertThat(counters.value(FallbackReason.UNAVAILABLE)).isEqualTo(2);
    assertThat(counters.value(Counter.FALLBACK_BYTES_READ)).isZero();
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
  void shouldForwardSparksFailureWhenTcpFails() throws InterruptedException {
    rdmaIsUp();
    IOException own = new IOException("connection reset");
    spark.failures.put("shuffle_0_2_0", own);
    fetch("shuffle_0_1_0", "shuffle_0_2_0");
    var handler = transport.requests.get(0).handler();
    handler.onFailed(0, FallbackReason.LOST_PEER, "gone");
    handler.onFailed(1, FallbackReason.LOST_PEER, "gone");
    listener.awaitAnswers(2);
    assertThat(listener.failures()).containsOnly(Map.entry("shuffle_0_2_0", own));
  }

  @Test
  void shouldFailEveryBlockWhenSparksClientThrows() throws InterruptedException {
    rdmaIsUp();
    spark.thrown = new AssertionError("broken");
    transport.thrown = new IllegalStateException("broken too");
    fetch("shuffle_0_1_0", "shuffle_0_2_0");
    listener.awaitAnswers(2);
    assertThat(listener.failures()).hasSize(2).containsValue(spark.thrown);
    assertThat(pause.totalMs()).as("it may be over soon").isEqualTo(3_100);
  }

  @Test
  void shouldFetchByTcpWhenTheDirectoryFails() throws InterruptedException {
    up.complete(transport);
    directory.put("7", CompletableFuture.failedFuture(new IllegalStateException("broken")));
    fetch("shuffle_0_1_0", "shuffle_0_2_0");
    assertThat(listener.awaitAnswers(2)).hasSize(2);
    assertThat(listener.failures()).isEmpty();
    assertThat(counters.value(FallbackReason.NO_ENDPOINT)).isEqualTo(2);
  }

  @Test
  void shouldFetchByTcpWhenTheDirectoryThrowsAnError() throws InterruptedException {
    up.complete(transport);
    RdmaBlockClient client =
        new RdmaBlockClient(
            spark,
            up,
            executorId -> {
              throw new OutOfMemoryError("unable to create native thread");
            },
            tcp,
            counters);
    client.fetchBlocks(HOST, 7_337, "7", new String[] {"shuffle_0_1_0"}, listener, null);
    assertThat(listener.awaitAnswers(1)).hasSize(1);
    assertThat(counters.value(FallbackReason.UNAVAILABLE)).isEqualTo(1);
  }

  @Test
  void shouldFetchByTcpWhenTheTransportThrowsAnErrorOnTheThreadOfTheDirectory()
      throws InterruptedException {
    up.complete(transport);
    CompletableFuture<Optional<Endpoint>> lookup = new CompletableFuture<>();
    directory.put("7", lookup);
    transport.thrown = new OutOfMemoryError("thrown by the test");
    fetch("shuffle_0_1_0", "shuffle_0_2_0");
    lookup.complete(Optional.of(PEER));
    assertThat(listener.awaitAnswers(2)).hasSize(2);
    assertThat(listener.failures()).isEmpty();
    assertThat(counters.value(FallbackReason.READ_ERROR)).isEqualTo(2);
  }

  @Test
  void shouldReportABlockAsFailedWhenSparksListenerThrows() throws InterruptedException {
    rdmaIsUp();
    OutOfMemoryError thrown = new OutOfMemoryError("thrown by the test");
    listener.thrown = thrown;
    fetch("shuffle_0_1_0", "rdd_0_0");
    transport.requests.get(0).handler().onFetched(0, new FakeBuffer(5));
    assertThat(listener.awaitAnswers(2)).containsExactlyInAnyOrder("shuffle_0_1_0", "rdd_0_0");
    assertThat(listener.failures().values()).containsOnly(thrown);
  }

  @Test
  void shouldAnswerASuspectBlockThatCannotBeCompared() throws InterruptedException {
    rdmaIsUp();
    fetch("shuffle_0_1_0");
    SuspectBlock suspect =
        new SuspectBlock(
            10,
            1,
            same -> {
              throw new OutOfMemoryError("thrown by the test");
            });
    transport.requests.get(0).handler().onSuspect(0, suspect);
    assertThat(listener.awaitAnswers(1)).hasSize(1);
    assertThat(listener.failures()).isEmpty();
    assertThat(counters.value(Counter.FALLBACK_BYTES_READ)).isEqualTo(10);
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
  void shouldRecheckTheDirectoryAfterAnUnreachablePeer() throws InterruptedException {
    rdmaIsUp();
    AtomicInteger rechecks = new AtomicInteger();
    EndpointLookup lookup =
        new EndpointLookup() {
          @Override
          public CompletableFuture<Optional<Endpoint>> find(String executorId) {
            return directory.get(executorId);
          }

          @Override
          public void recheck() {
            rechecks.incrementAndGet();
          }
        };
    RdmaBlockClient client = new RdmaBlockClient(spark, up, lookup, tcp, counters);
    String[] blockIds = {"shuffle_0_1_0", "shuffle_0_2_0"};
    client.fetchBlocks(HOST, 7_337, "7", blockIds, listener, null);
    transport.requests.get(0).handler().onFailed(0, FallbackReason.PEER_BUSY, "no room");
    assertThat(rechecks).hasValue(0);
    transport.requests.get(0).handler().onFailed(1, FallbackReason.CONNECT_FAILED, "refused");
    assertThat(rechecks).hasValue(1);
    listener.awaitAnswers(2);
  }

  @Test
  void shouldForwardTheFilesForLargeBlocks() throws InterruptedException {
    rdmaIsUp();
    var files = new NoFiles();
    client().fetchBlocks(HOST, 7_337, "7", new String[] {"shuffle_0_1_0"}, listener, files);
    assertThat(transport.requests.get(0).files()).isSameAs(files);
    transport.requests.get(0).handler().onFailed(0, FallbackReason.DISK, "full");
    listener.awaitAnswers(1);
    assertThat(spark.files).isSameAs(files);
  }

  @Test
  void shouldForwardOtherCallsToSparksClientAndNeverCloseIt() throws IOException {
    List<String> outcomes = new ArrayList<>();
    RdmaBlockClient client = client();
    assertThat(client.diagnoseCorruption(HOST, 1, "7", 0, 0, 0, 0, "ADLER32"))
        .isEqualTo(Cause.DISK_ISSUE);
    assertThat(client.shuffleMetrics()).isSameAs(FakeSparkClient.METRICS);
    client.getMergedBlockMeta(
        HOST,
        1,
        0,
        0,
        0,
        new MergedBlocksMetaListener() {
          @Override
          public void onSuccess(int shuffleId, int mergeId, int reduceId, MergedBlockMeta meta) {
            outcomes.add("success");
          }

          @Override
          public void onFailure(int shuffleId, int mergeId, int reduceId, Throwable failure) {
            outcomes.add(failure.getMessage());
          }
        });
    assertThat(outcomes).containsExactly("asked");
    client.close();
    assertThat(spark.closed).isFalse();
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

  private void rdmaIsUp() {
    up.complete(transport);
    directory.put("7", CompletableFuture.completedFuture(Optional.of(PEER)));
  }

  private void fetch(String... blockIds) {
    client().fetchBlocks(HOST, 7_337, "7", blockIds, listener, null);
  }

  private RdmaBlockClient client() {
    return new RdmaBlockClient(spark, up, directory::get, tcp, counters);
  }
}
