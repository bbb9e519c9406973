// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FailingCounters;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/** Errors of a part that the client uses: each block is answered all the same. */
class RdmaBlockClientErrorsTest extends BlockClientFixture {
  @Test
  void shouldFetchByTcpWhenTheTransportThrowsAnErrorOnTheTasksThread() throws InterruptedException {
    rdmaIsUp();
    transport.thrown = new OutOfMemoryError("thrown by the test");
    fetch("shuffle_0_1_0", "shuffle_0_2_0");
    assertThat(listener.awaitAnswers(2)).hasSize(2);
    assertThat(listener.failures()).isEmpty();
    assertThat(counters.value(FallbackReason.READ_ERROR)).isEqualTo(2);
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
}
