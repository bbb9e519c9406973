// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;

/** Completion queues and channels. */
public abstract class CompletionContract extends VerbsContract {
  private static final long LONG_NS = Duration.ofSeconds(30).toNanos();

  /** Measurements of what posting and polling allocate; the first one below the limit counts. */
  private static final int MEASUREMENTS = 10;

  @Test
  void shouldWakeTheOwnerWhenAnArmedQueueGetsACompletion() throws Exception {
    Pair pair = connect();
    Node.Block source = server.block(100, 5, Node.READABLE);
    Node.Block sink = client.block(100, 0, Node.SINK);
    client.channel.await(0);
    for (int i = 0; i < 20; i++) {
      client.queue.arm();
      assertThat(client.queue.poll(1, c -> {})).isZero();
      pair.client().postSend(sink.readFrom(i, source.region()));
      long start = System.nanoTime();
      client.channel.await(LONG_NS);
      until(() -> !client.results.isEmpty());
      client.results.clear();
      assertThat(System.nanoTime() - start).isLessThan(LONG_NS / 2);
    }
  }

  @Test
  void shouldWakeTheOwnerForAConnectionEvent() throws Exception {
    Pair pair = connect();
    client.channel.await(0);
    pair.serverEnd().disconnect();
    long start = System.nanoTime();
    client.channel.await(LONG_NS);
    assertThat(System.nanoTime() - start).isLessThan(LONG_NS / 2);
    event(client, org.sparkrdma.verbs.cm.ConnectionEvent.Type.DISCONNECTED);
  }

  @Test
  void shouldWakeTheOwnerOnWakeup() throws Exception {
    client.channel.wakeup();
    client.channel.await(LONG_NS);
    Thread waker = new Thread(client.channel::wakeup);
    waker.start();
    client.channel.await(LONG_NS);
    waker.join();
  }

  @Test
  void shouldRefuseToWaitAfterClose() throws Exception {
    CompletionChannel closed = client.device.createCompletionChannel();
    closed.close();
    assertThatThrownBy(() -> closed.await(0)).isInstanceOf(IllegalStateException.class);
    closed.wakeup();
  }

  @Test
  void shouldNotWaitLongerThanTheTimeout() throws Exception {
    client.channel.await(0);
    long start = System.nanoTime();
    client.channel.await(1_000_000);
    client.channel.await(-5);
    assertThat(System.nanoTime() - start).isLessThan(LONG_NS / 2);
  }

  @Test
  void shouldPollNoMoreCompletionsThanTheLimit() throws Exception {
    Pair pair = connect();
    Node.Block source = server.block(100, 5, Node.READABLE);
    Node.Block sink = client.block(100, 0, Node.SINK);
    for (int i = 0; i < 10; i++) {
      pair.client().postSend(sink.readFrom(i, source.region()));
    }
    List<Long> ids = new ArrayList<>();
    spinUntil(() -> polled(ids, 3) == 0 && ids.size() == 10);
    assertThat(ids).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
  }

  private int polled(List<Long> ids, int limit) {
    int before = ids.size();
    int count = client.queue.poll(limit, completion -> ids.add(completion.requestId()));
    assertThat(ids.size() - before).isEqualTo(count).isLessThanOrEqualTo(limit);
    return count;
  }

  @Test
  void shouldHideTheUndefinedFieldsOfAFailedCompletion() throws Exception {
    Pair pair = connect();
    pair.clientEnd().attach("of the client");
    pair.client()
        .postSend(
            new WorkRequest(1).read(1, 1, 1).local(client.block(8, 0, Node.SINK).region(), 0, 8));
    List<WorkCompletion> seen = new ArrayList<>();
    boolean[] checked = new boolean[1];
    spinUntil(
        () ->
            client.queue.poll(
                    1,
                    completion -> {
                      seen.add(completion);
                      assertThat(completion.succeeded()).isFalse();
                      assertThatThrownBy(completion::opcode)
                          .isInstanceOf(IllegalStateException.class);
                      assertThatThrownBy(completion::byteLength)
                          .isInstanceOf(IllegalStateException.class);
                      assertThatThrownBy(completion::immediate)
                          .isInstanceOf(IllegalStateException.class);
                      assertThat(completion.queuePairNumber()).isEqualTo(pair.client().number());
                      assertThat(completion.attachment()).isEqualTo("of the client");
                      checked[0] = true;
                    })
                == 1);
    assertThat(checked[0]).isTrue();
    assertThatThrownBy(() -> seen.get(0).status()).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> seen.get(0).attachment()).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldHaveTheAttachmentOfItsConnection() throws Exception {
    Pair first = connect();
    Pair second = connect();
    first.clientEnd().attach("first");
    second.clientEnd().attach("second");
    Node.Block source = server.block(100, 5, Node.READABLE);
    Node.Block sink = client.block(100, 0, Node.SINK);
    first.client().postSend(sink.readFrom(1, source.region()));
    second.client().postSend(sink.readFrom(2, source.region()));
    Map<Long, Object> attachments = new HashMap<>();
    spinUntil(
        () -> {
          client.queue.poll(2, one -> attachments.put(one.requestId(), one.attachment()));
          return attachments.size() == 2;
        });
    assertThat(attachments).isEqualTo(Map.of(1L, "first", 2L, "second"));
  }

  @Test
  void shouldDropCompletionsOfAClosedQueuePairOnly() throws Exception {
    Pair gone = connect();
    Pair stays = connect();
    Node.Block sink = client.block(8, 0, Node.SINK);
    for (int i = 0; i < 10; i++) {
      gone.client().postReceive(sink.receive(i));
      stays.client().postReceive(sink.receive(100 + i));
    }
    gone.clientEnd().disconnect();
    stays.clientEnd().disconnect();
    until(() -> gone.client().state() == QueuePairState.ERROR);
    gone.client().close();
    gone.client().close();
    until(() -> client.results.stream().filter(r -> r.id() >= 100).count() == 10);
    assertThat(gone.client().state()).isEqualTo(QueuePairState.DESTROYED);
    int before = client.results.size();
    client.poll();
    assertThat(client.results).hasSize(before);
  }

  @Test
  void shouldLetAHandlerPostAgain() throws Exception {
    Pair pair = connect();
    Node.Block source = server.block(100, 5, Node.READABLE);
    Node.Block sink = client.block(100, 0, Node.SINK);
    WorkRequest read = sink.readFrom(1, source.region());
    pair.client().postSend(read);
    AtomicLong count = new AtomicLong();
    spinUntil(
        () -> {
          client.queue.poll(
              4,
              completion -> {
                if (count.incrementAndGet() < 500) {
                  assertThat(pair.client().postSend(read)).isTrue();
                }
              });
          return count.get() == 500;
        });
  }

  @Test
  void shouldFailTheQueuePairsOfAnOverrunQueue() throws Exception {
    assumeFalse(engine().deviates(Deviation.OVERRUN_IS_NOT_REPORTED), "overrun is not reported");
    CompletionQueue small = client.device.createCompletionQueue(4, client.channel);
    int capacity = small.capacity();
    Pair pair =
        connect(
            new QueuePairSettings(small, small, capacity + 1, 1, 1, Set.of()), server.settings());
    Node.Block source = server.block(100, 5, Node.READABLE);
    Node.Block sink = client.block(100, 0, Node.SINK);
    for (int i = 0; i <= capacity; i++) {
      pair.client().postSend(sink.readFrom(i, source.region()));
    }
    until(() -> pair.client().state() == QueuePairState.ERROR);
    assertThatThrownBy(() -> drain(small)).isInstanceOf(IllegalStateException.class);
    pair.clientEnd().close();
    small.close();
  }

  private static void drain(CompletionQueue queue) {
    for (int i = 0; i <= queue.capacity(); i++) {
      queue.poll(1, completion -> {});
    }
  }

  @Test
  void shouldRefuseToCloseWhileInUse() throws Exception {
    Pair pair = connect();
    assertThatThrownBy(client.queue::close).isInstanceOf(IllegalStateException.class);
    pair.clientEnd().close();
    client.queue.close();
    client.queue.close();
    assertThatThrownBy(() -> client.queue.poll(1, c -> {}))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(client.queue::arm).isInstanceOf(IllegalStateException.class);
    client.close();
  }

  @Test
  void shouldRefuseBadQueues() throws Exception {
    int limit = client.device.info().limits().maxCompletionQueueDepth();
    assertThatThrownBy(() -> client.device.createCompletionQueue(limit + 1, null))
        .isInstanceOf(VerbsException.class);
    try (CompletionQueue silent = client.device.createCompletionQueue(1, null)) {
      assertThat(silent.capacity()).isGreaterThanOrEqualTo(1);
      assertThatThrownBy(silent::arm).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void shouldAllocateNothingWhenPostingAndPolling() throws Exception {
    assumeFalse(engine().deviates(Deviation.POSTING_ALLOCATES), "posting allocates");
    reopenUnwatched();
    Pair pair = connect();
    Node.Block source = server.block(4096, 5, Node.READABLE);
    Node.Block sink = client.block(4096, 0, Node.SINK);
    Rounds rounds = new Rounds(client.queue, pair.client(), source, sink);
    pair.clientEnd().attach(rounds);
    int count = 20_000 / engine().shorter();
    rounds.run(count);
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long lowest = Long.MAX_VALUE;
    // On a busy machine the compiler needs the time of more rounds than the first ones.
    for (int i = 0; i < MEASUREMENTS && lowest >= count; i++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      rounds.run(count);
      lowest = Math.min(lowest, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(rounds.failures).isZero();
    assertThat(lowest).isLessThan(count);
  }

  /** Posts READs and polls them, all in one thread. */
  private static final class Rounds implements CompletionHandler {
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final MemoryRegion sink;
    private final RemoteRegion source;
    private final WorkRequest request = new WorkRequest(1);
    private long failures;

    Rounds(CompletionQueue queue, QueuePair queuePair, Node.Block source, Node.Block sink) {
      this.queue = queue;
      this.queuePair = queuePair;
      this.source = source.region().remote();
      this.sink = sink.region();
    }

    void run(int count) {
      for (int i = 0; i < count; i++) {
        request.read(i, source.address(), source.remoteKey()).local(sink, 0, 4096).signalled();
        queuePair.postSend(request);
        while (queue.poll(1, this) == 0) {
          Thread.onSpinWait();
        }
      }
    }

    @Override
    public void onCompletion(WorkCompletion completion) {
      if (completion.status() != WorkStatus.SUCCESS || completion.attachment() != this) {
        failures++;
      }
    }
  }
}
