// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.SoftPool;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FakeSparkClient;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchedBlock;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.fetch.NoFiles;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.fetch.RecordingListener;
import org.sparkrdma.shuffle.fetch.TakenMemory;
import org.sparkrdma.shuffle.fetch.TcpFetch;
import org.sparkrdma.shuffle.links.AlteredSpark;
import org.sparkrdma.shuffle.links.AlteredSpark.Change;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.read.RdmaReads.Way;
import org.sparkrdma.verbs.AccessFlag;

class RdmaBlockClientTest extends BlockClientFixture {
  @Test
  void shouldUseTheTransportAtOnceForAKnownPeer() throws InterruptedException {
    rdmaIsUp();
    fetch("shuffle_0_11_3", "shuffle_0_12_4_9");
    FetchRequest request = transport.requests.get(0);
    assertThat(request.endpoint()).isSameAs(PEER);
    assertThat(request.ranges())
        .containsExactly(new BlockRange(0, 11, 3, 4), new BlockRange(0, 12, 4, 9));
    request.onFetched(1, FetchedBlock.empty());
    request.onFetched(0, FetchedBlock.empty());
    assertThat(listener.awaitAnswers(2)).containsExactly("shuffle_0_12_4_9", "shuffle_0_11_3");
    assertThat(counters.value(Counter.RDMA_BLOCKS_READ)).isEqualTo(2);
    assertThat(spark.calls()).isEmpty();
  }

  @Test
  void shouldInformTheTransportThatHasFetchedAfterARestart() throws Exception {
    rdmaIsUp();
    fetch("shuffle_0_1_0");
    FakeTransport before = transport;
    transport = new FakeTransport();
    reads.useRdma(transport);
    try (SoftPool soft = new SoftPool(AccessFlag.LOCAL_WRITE, 64, 1)) {
      ReceiveMemory receiveMemory = TakenMemory.of(soft.pool(), counters);
      FetchedBlock block = TakenMemory.take(receiveMemory, 11);
      block.addSum(3, 11, 1);
      block.retain();
      before.requests.get(0).onFetched(0, block);
      block.createInputStream().close();
      block.release();
      receiveMemory.closeOpenChunk();
    }
    assertThat(before.informed).containsExactly("settled", "corrupt");
    assertThat(transport.informed).isEmpty();
  }

  /** Beside another manager threads without a task read blocks of shuffles, too. */
  @Test
  void shouldCountBytesAsThoseOfBroadcastsOnlyWhereTheReaderSaysSo() throws Exception {
    rdmaIsUp();
    try (SoftPool soft = new SoftPool(AccessFlag.LOCAL_WRITE, 64, 1)) {
      ReceiveMemory receiveMemory = TakenMemory.of(soft.pool(), counters);
      fetch("shuffle_0_1_0");
      deliver(TakenMemory.take(receiveMemory, 11));
      assertThat(counters.value(Counter.RDMA_BYTES_READ)).isEqualTo(11);
      assertThat(counters.value(Counter.BROADCAST_BYTES_READ)).isZero();
      reads
          .client(FetchingTask.ofBroadcast())
          .fetchBlocks(HOST, 7_337, "7", new String[] {"shuffle_0_2_0"}, listener, null);
      deliver(TakenMemory.take(receiveMemory, 7));
      assertThat(counters.value(Counter.BROADCAST_BYTES_READ)).isEqualTo(7);
      receiveMemory.closeOpenChunk();
    }
  }

  /** To the last request. */
  private void deliver(FetchedBlock block) {
    transport.requests.get(transport.requests.size() - 1).onFetched(0, block);
  }

  /** As where a method of Spark is missing that the check at the start does not see. */
  @Test
  void shouldForwardToSparkWhatALinkageErrorLeavesOpen() throws InterruptedException {
    fetchThrough(
        () -> {
          throw new NoSuchMethodError("'void org.apache.spark.X.gone()'");
        },
        "shuffle_0_11_3",
        "rdd_1_2");
    assertThat(listener.awaitAnswers(2)).containsExactlyInAnyOrder("shuffle_0_11_3", "rdd_1_2");
    assertThat(spark.blocksFetched()).isEqualTo(2);
    assertThat(context.missing().reason().orElseThrow()).contains("Spark 4", "X.gone()");
    reads.use(Way.TCP);
    fetch("shuffle_0_12_3");
    listener.awaitAnswers(3);
    assertThat(counters.value(FallbackReason.UNAVAILABLE)).as("not counted").isEqualTo(1);
  }

  @Test
  void shouldFetchByTcpWhatALinkageErrorOfTheTransportLeavesOpen() throws InterruptedException {
    transport.fetched =
        request -> {
          request.onFetched(0, FetchedBlock.empty());
          throw new NoSuchFieldError("gone");
        };
    rdmaIsUp();
    fetch("shuffle_0_12_3", "shuffle_0_13_3");
    assertThat(listener.awaitAnswers(2)).containsExactly("shuffle_0_12_3", "shuffle_0_13_3");
    assertThat(spark.blocksFetched()).isEqualTo(1);
    assertThat(listener.failures()).isEmpty();
  }

  /** As where the call of Spark's listener cannot be linked: it has not taken the block. */
  @ParameterizedTest
  @CsvSource({"true, 0", "false, 0", "false, 1"})
  void shouldLetSparkAnswerWhatThePluginCannot(boolean up, int failed) throws Exception {
    spark.failures.putAll(failed == 0 ? Map.of() : Map.of("shuffle_0_1_0", new IOException()));
    NoFiles files = up ? null : new NoFiles();
    AtomicInteger calls = new AtomicInteger();
    RecordingListener broken =
        new RecordingListener(
            (blockId, buffer) -> {
              if (calls.getAndIncrement() == 0) {
                throw new NoSuchMethodError("gone");
              }
            });
    rdmaIsUp();
    reads.use(up ? Way.RDMA : Way.TCP);
    client()
        .fetchBlocks(
            HOST, 7_337, "7", new String[] {"shuffle_0_1_0", "shuffle_0_2_0"}, broken, files);
    if (up) {
      transport.requests.get(0).onFetched(0, FetchedBlock.empty());
      transport.requests.get(0).onFetched(1, FetchedBlock.empty());
    }
    assertThat(broken.awaitAnswers(2)).hasSize(2).doesNotHaveDuplicates();
    assertThat(broken.failures()).hasSize(failed);
    assertThat(context.missing().any()).isTrue();
    assertThat(counters.value(Counter.RDMA_BLOCKS_READ)).isEqualTo(up ? 1 : 0);
    assertThat(spark.files).as("a large block is not for the memory").isSameAs(files);
  }

  /** Nothing else would answer a block that is asked for once more. */
  @Test
  void shouldFailABlockForWhichSparksClientThrowsToo() throws Exception {
    reads.use(Way.TCP);
    RecordingListener broken =
        new RecordingListener(
            (blockId, buffer) -> {
              if (buffer != null) {
                spark.errors.add(new IllegalStateException());
                throw new NoSuchMethodError("gone");
              }
            });
    client().fetchBlocks(HOST, 7_337, "7", new String[] {"shuffle_0_1_0"}, broken, null);
    assertThat(broken.awaitAnswers(1)).containsExactly("shuffle_0_1_0");
    assertThat(broken.failures()).hasSize(1);
  }

  /** The class loader has all of the plug-in but what asks Spark's client. */
  @Test
  void shouldAnswerAllOfARequestWithOtherBlocksAfterALinkageError() throws Exception {
    try (AlteredSpark spark = new AlteredSpark(TcpFetch.class.getName(), Change.NO_CLASS)) {
      Callable<?> test =
          (Callable<?>) spark.loadClass(Answers.class.getName()).getConstructor().newInstance();
      assertThat(test.call()).isEqualTo(List.of("shuffle_0_11_3", "rdd_1_2"));
    }
  }

  /** Blocks that have an answer when the call returns. */
  public static final class Answers extends BlockClientFixture implements Callable<List<String>> {
    @Override
    public List<String> call() throws InterruptedException {
      fetch("shuffle_0_11_3", "rdd_1_2");
      return listener.awaitAnswers(0);
    }
  }

  /** Nobody sees an error on the directory's thread. */
  @Test
  void shouldAnswerBlocksWhoseEndpointIsFoundLaterAndMeetsALinkageError() throws Exception {
    transport.fetched =
        request -> {
          throw new NoSuchMethodError("'void org.apache.spark.X.gone()'");
        };
    rdmaIsUp();
    CompletableFuture<Optional<Endpoint>> found = new CompletableFuture<>();
    fetchThrough(() -> found, "shuffle_0_11_3");
    found.complete(Optional.of(PEER));
    assertThat(listener.awaitAnswers(1)).containsExactly("shuffle_0_11_3");
    assertThat(listener.failures()).isEmpty();
    assertThat(context.missing().any()).isTrue();
  }

  /** Otherwise the future keeps it: the executor goes on, and its task waits for ever. */
  @Test
  void shouldGiveAFatalErrorOnTheDirectorysThreadToTheHandlerOfUncaughtErrors() throws Exception {
    Error fatal = new OutOfMemoryError("thrown by the test");
    transport.fetched =
        request -> {
          throw fatal;
        };
    List<Throwable> uncaught = new ArrayList<>();
    CompletableFuture<Optional<Endpoint>> found = new CompletableFuture<>();
    fetchThrough(() -> found, "shuffle_0_11_3");
    CompletableFuture<Optional<Endpoint>> failed = new CompletableFuture<>();
    fetchThrough(() -> failed.thenCompose(x -> found), "shuffle_0_12_3");
    Thread directory =
        new Thread(
            () -> {
              found.complete(Optional.of(PEER));
              failed.completeExceptionally(fatal);
            });
    directory.setUncaughtExceptionHandler((thread, e) -> uncaught.add(e));
    directory.start();
    directory.join();
    assertThat(uncaught).containsExactly(fatal, fatal);
  }

  @Test
  void shouldNotTakeAFailedInitializerOfTheJobForAMissingMethod() {
    assertThat(context.missing().take(new ExceptionInInitializerError("of the job"))).isFalse();
  }

  /** Spark's own Error, or one of the job, is none of the plug-in's. */
  @Test
  void shouldLeaveOtherErrorsToTheTask() {
    NoSuchMethodError foreign = new NoSuchMethodError("gone");
    foreign.setStackTrace(
        new StackTraceElement[] {
          new StackTraceElement("java.lang.invoke.MethodHandle", "link", "X.java", 1),
          new StackTraceElement("org.apache.spark.storage.X", "run", "X.java", 1),
          new StackTraceElement("org.sparkrdma.shuffle.read.X", "run", "X.java", 1)
        });
    assertThatThrownBy(
            () ->
                fetchThrough(
                    () -> {
                      throw foreign;
                    },
                    "shuffle_0_11_3"))
        .isSameAs(foreign);
    assertThat(context.missing().any()).isFalse();
    assertThat(spark.calls()).isEmpty();
  }

  private void fetchThrough(Supplier<CompletableFuture<Optional<Endpoint>>> find, String... ids) {
    RdmaReads found = new RdmaReads(context, (peer, stage) -> find.get(), () -> {});
    found.useRdma(transport);
    found.client(new FetchingTask(null)).fetchBlocks(HOST, 7_337, "7", ids, listener, null);
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
    var handler = transport.requests.get(0);
    handler.leaveToTcp(1, FallbackReason.PEER_BUSY, "no room");
    handler.onFetched(0, FetchedBlock.empty());
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
  void shouldAnswerEachBlockOnceForAnyTransportResult() throws InterruptedException {
    rdmaIsUp();
    fetch("shuffle_0_1_0", "shuffle_0_2_0");
    var handler = transport.requests.get(0);
    handler.leaveToTcp(0, FallbackReason.TIMEOUT, "late");
    handler.onFetched(0, FetchedBlock.empty());
    handler.leaveToTcp(0, FallbackReason.LOST_PEER, "again");
    handler.onFetched(1, FetchedBlock.empty());
    handler.onFetched(1, FetchedBlock.empty());
    assertThat(listener.awaitAnswers(2)).hasSize(2);
    tcp.close();
    assertThat(listener.awaitAnswers(2)).hasSize(2);
    assertThat(counters.value(FallbackReason.LOST_PEER)).isZero();
  }

  @Test
  void shouldRecheckTheDirectoryAfterAnUnreachablePeer() throws InterruptedException {
    rdmaIsUp();
    fetch("shuffle_0_1_0", "shuffle_0_2_0");
    transport.requests.get(0).leaveToTcp(0, FallbackReason.PEER_BUSY, "no room");
    assertThat(rechecks).hasValue(0);
    transport.requests.get(0).leaveToTcp(1, FallbackReason.CONNECT_FAILED, "refused");
    assertThat(rechecks).hasValue(1);
    listener.awaitAnswers(2);
  }

  @Test
  void shouldFetchBlocksThatSparkWantsOnDiskByTcpAtOnce() throws InterruptedException {
    rdmaIsUp();
    var files = new NoFiles();
    client().fetchBlocks(HOST, 7_337, "7", new String[] {"shuffle_0_1_0"}, listener, files);
    assertThat(transport.requests).isEmpty();
    listener.awaitAnswers(1);
    assertThat(spark.files).isSameAs(files);
    assertThat(spark.threads).containsExactly(Thread.currentThread());
    assertThat(counters.value(FallbackReason.DISK)).isEqualTo(1);
  }

  /** A start that ends late must not bring it back. */
  @Test
  void shouldNeverReturnToRdmaWhereTheExecutorEnds() throws InterruptedException {
    rdmaIsUp();
    reads.use(Way.DRAINING);
    reads.useRdma(transport);
    reads.use(Way.TCP);
    fetch("shuffle_0_1_0");
    assertThat(listener.awaitAnswers(1)).containsExactly("shuffle_0_1_0");
    assertThat(transport.requests).isEmpty();
    assertThat(counters.value(FallbackReason.UNAVAILABLE)).as("no fallback").isZero();
  }
}
