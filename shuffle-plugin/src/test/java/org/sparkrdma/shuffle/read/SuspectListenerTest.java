// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

@Timeout(60)
class SuspectListenerTest {
  private static final String BLOCK = "shuffle_0_1_0";

  private final ShuffleCounters counters = new ShuffleCounters();
  private final TcpFallback tcp = new TcpFallback(new FakeSparkClient(), counters, 1);
  private final RecordingListener listener = new RecordingListener();
  private final CountDownLatch go = new CountDownLatch(1);
  private final List<CountedBuffer> buffers = new ArrayList<>();

  @AfterEach
  void shouldReleaseEachBuffer() {
    go.countDown();
    tcp.close();
    for (CountedBuffer buffer : buffers) {
      buffer.awaitReleased();
    }
  }

  @Test
  void shouldReturnBeforeTheBlockIsCompared() throws InterruptedException {
    CountedBuffer buffer = new CountedBuffer(go);
    receive(buffer);
    assertThat(counters.value(FallbackReason.CORRUPT)).as("not compared yet").isZero();
    go.countDown();
    assertThat(listener.awaitAnswers(1)).containsExactly(BLOCK);
    assertThat(listener.failures()).isEmpty();
    assertThat(counters.value(FallbackReason.CORRUPT)).isEqualTo(1);
    assertThat(buffer.reader).isNotSameAs(Thread.currentThread());
  }

  @Test
  void shouldCompareOnItsCallersThreadWhenTheThreadsAreClosed() throws InterruptedException {
    tcp.close();
    go.countDown();
    CountedBuffer buffer = new CountedBuffer(go);
    receive(buffer);
    assertThat(buffer.references).as("before the caller goes on").hasValue(0);
    assertThat(listener.awaitAnswers(1)).containsExactly(BLOCK);
    assertThat(buffer.reader).isSameAs(Thread.currentThread());
  }

  @Test
  void shouldCompareOnItsCallersThreadWhenManyWait() throws InterruptedException {
    for (int i = 0; i < ComparisonThreads.MAX_OPEN; i++) {
      receive(new CountedBuffer(go));
    }
    CountedBuffer next = new CountedBuffer(new CountDownLatch(0));
    receive(next);
    assertThat(next.reader).isSameAs(Thread.currentThread());
    go.countDown();
    assertThat(listener.awaitAnswers(ComparisonThreads.MAX_OPEN + 1))
        .hasSize(ComparisonThreads.MAX_OPEN + 1);
    // The last comparison may still be ending.
    while (!next.isReadElsewhere()) {
      next = new CountedBuffer(new CountDownLatch(0));
      receive(next);
      next.awaitReleased();
    }
  }

  @Test
  void shouldReleaseABlockThatSparkDoesNotTake() throws InterruptedException {
    listener.thrown = new OutOfMemoryError("thrown by the test");
    go.countDown();
    receive(new CountedBuffer(go));
    assertThat(listener.awaitAnswers(1)).containsExactly(BLOCK);
    assertThat(listener.failures()).containsOnlyKeys(BLOCK);
  }

  @Test
  void shouldDeliverABlockThatCannotBeRead() throws InterruptedException {
    CountedBuffer buffer = new CountedBuffer(null);
    receive(buffer);
    assertThat(listener.awaitAnswers(1)).containsExactly(BLOCK);
    assertThat(listener.failures()).isEmpty();
  }

  /** Passes a block to a listener like Spark's client. */
  private void receive(CountedBuffer buffer) {
    buffers.add(buffer);
    new SuspectListener(
            new PeerAddress("7", "host7", 7_337),
            new SuspectBlock(9, 1, same -> {}),
            listener,
            tcp.comparisons(),
            counters,
            new FallbackLog())
        .onBlockFetchSuccess(BLOCK, buffer);
    buffer.release();
  }

  /** Can be read when a latch opens, and only while it has a reference. */
  private static final class CountedBuffer extends ManagedBuffer {
    private final CountDownLatch open;
    private final AtomicInteger references = new AtomicInteger(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile Thread reader;

    /**
     * @param open null for a buffer that cannot be read
     */
    CountedBuffer(CountDownLatch open) {
      this.open = open;
    }

    boolean isReadElsewhere() {
      return reader != Thread.currentThread();
    }

    void awaitReleased() {
      awaitQuietly(released);
      assertThat(references).hasValue(0);
    }

    private static void awaitQuietly(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException("not released in time", e);
      }
    }

    @Override
    public long size() {
      return 10;
    }

    @Override
    public ByteBuffer nioByteBuffer() {
      if (open == null) {
        throw new OutOfMemoryError("thrown by the test");
      }
      awaitQuietly(open);
      if (references.get() <= 0) {
        throw new IllegalStateException("read after its release");
      }
      reader = Thread.currentThread();
      return ByteBuffer.allocate(10);
    }

    @Override
    public InputStream createInputStream() {
      throw new UnsupportedOperationException("never read");
    }

    @Override
    public ManagedBuffer retain() {
      references.incrementAndGet();
      return this;
    }

    @Override
    public ManagedBuffer release() {
      if (references.decrementAndGet() == 0) {
        released.countDown();
      }
      return this;
    }

    @Override
    public Object convertToNetty() {
      throw new UnsupportedOperationException("never sent");
    }

    @Override
    public Object convertToNettyForSsl() {
      throw new UnsupportedOperationException("never sent");
    }
  }
}
