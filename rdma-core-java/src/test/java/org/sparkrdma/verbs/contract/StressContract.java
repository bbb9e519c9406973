// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;

/** Many queue pairs, each used by its own thread. */
@Tag("slow")
public abstract class StressContract extends VerbsContract {
  private static final int THREADS = 4;
  private static final int ROUNDS = 304;
  private static final int BLOCK = 10_000;
  private static final int BLOCKS = 16;
  private static final Duration TIMEOUT = Duration.ofSeconds(40);

  @Test
  void shouldKeepTheWorkOfManyThreadsApart() throws Exception {
    Node.Block source = server.block(BLOCK * BLOCKS, 0, Node.READABLE);
    for (int i = 0; i < BLOCKS; i++) {
      byte[] fill = new byte[BLOCK];
      Arrays.fill(fill, (byte) (i + 1));
      source.memory().slice((long) i * BLOCK, BLOCK).put(fill);
    }
    List<Callable<Void>> readers = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      CompletionQueue queue = client.device.createCompletionQueue(Node.DEPTH, null);
      Pair pair =
          connect(
              new QueuePairSettings(queue, queue, Node.DEPTH, 1, 2, Node.REMOTE),
              server.settings());
      int rounds = ROUNDS / engine().shorter();
      readers.add(new Reader(queue, pair.client(), source.region(), i, client, rounds));
    }
    runTogether(readers);
  }

  private static void runTogether(List<Callable<Void>> actions) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      for (Future<Void> done : threads.invokeAll(actions)) {
        done.get();
      }
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void shouldCompleteOnceWhenThreadsTakeTurnsToPoll() throws Exception {
    int readsPerThread = 2 * ROUNDS / engine().shorter();
    Node.Block source = server.block(BLOCK, 7, Node.READABLE);
    CompletionQueue shared =
        client.device.createCompletionQueue(THREADS * Node.DEPTH, client.channel);
    QueuePairSettings settings =
        new QueuePairSettings(shared, shared, Node.DEPTH, 1, 1, Node.REMOTE);
    List<Pair> pairs = new ArrayList<>();
    List<Node.Block> sinks = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      pairs.add(connect(settings, server.settings()));
      sinks.add(client.block(BLOCK, 0, Node.SINK));
    }
    // The thread that holds the lock owns the queue.
    Object owner = new Object();
    int[] completed = new int[THREADS];
    List<Callable<Void>> turns = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int own = i;
      turns.add(
          () -> {
            int posted = 0;
            boolean[] over = new boolean[1];
            long deadline = System.nanoTime() + TIMEOUT.toNanos();
            while (!over[0]) {
              synchronized (owner) {
                if (posted < readsPerThread
                    && pairs.get(own).client().postSend(read(own, sinks.get(own), source))) {
                  posted++;
                }
                shared.poll(
                    BLOCKS,
                    completion -> {
                      assertThat(completion.status()).isEqualTo(WorkStatus.SUCCESS);
                      completed[(int) completion.requestId()]++;
                    });
                over[0] = completed[own] == readsPerThread;
              }
              assertThat(System.nanoTime() - deadline).as("time-out").isNegative();
            }
            return null;
          });
    }
    runTogether(turns);
    assertThat(completed).containsOnly(readsPerThread);
    assertThat(shared.poll(1, completion -> {})).isZero();
    sinks.forEach(sink -> assertAll(sink.bytes(), 7));
    pairs.forEach(pair -> pair.clientEnd().close());
    shared.close();
  }

  @Test
  void shouldRunARequestThatIsPostedAsSoonAsTheOnlyOneBeforeItCompletes() throws Exception {
    int reads = 100 * ROUNDS / engine().shorter();
    Node.Block source = server.block(BLOCKS, 7, Node.READABLE);
    Node.Block sink = client.block(BLOCKS, 0, Node.SINK);
    CompletionQueue queue = client.device.createCompletionQueue(1, null);
    Pair pair =
        connect(new QueuePairSettings(queue, queue, 1, 1, 1, Node.REMOTE), server.settings());
    int[] completed = new int[1];
    for (int i = 0; i < reads; i++) {
      int id = i;
      assertThat(pair.client().postSend(read(id, sink, source))).isTrue();
      spinUntil(
          () ->
              queue.poll(
                      1,
                      completion -> {
                        assertThat(completion.status()).isEqualTo(WorkStatus.SUCCESS);
                        assertThat(completion.requestId()).isEqualTo(id);
                        completed[0]++;
                      })
                  == 1);
    }
    assertThat(completed[0]).isEqualTo(reads);
    assertAll(sink.bytes(), 7);
    pair.clientEnd().close();
    queue.close();
  }

  private static WorkRequest read(long id, Node.Block sink, Node.Block source) {
    return sink.readFrom(id, source.region());
  }

  /** Reads blocks in random order and batches, and checks the data. */
  private static final class Reader implements Callable<Void> {
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final MemoryRegion source;
    private final Random random;
    private final Node.Block sink;
    private final int rounds;
    private final int elements;
    private final int[] wanted = new int[BLOCKS];
    private int open;

    Reader(
        CompletionQueue queue,
        QueuePair queuePair,
        MemoryRegion source,
        int seed,
        Node node,
        int rounds)
        throws Exception {
      this.queue = queue;
      this.queuePair = queuePair;
      this.source = source;
      this.rounds = rounds;
      elements = Math.min(2, node.device.info().limits().maxReadSge());
      random = new Random(seed);
      sink = node.block(BLOCK * BLOCKS, 0, Node.SINK);
    }

    @Override
    public Void call() {
      for (int round = 0; round < rounds; round++) {
        int count = 1 + random.nextInt(BLOCKS);
        WorkRequest[] batch = new WorkRequest[count];
        for (int slot = 0; slot < count; slot++) {
          wanted[slot] = random.nextInt(BLOCKS);
          batch[slot] = read(slot);
        }
        open = count;
        assertThat(queuePair.postSend(batch, 0, count)).isEqualTo(count);
        spinUntil(() -> poll() == 0);
      }
      return null;
    }

    private WorkRequest read(int slot) {
      int split = elements == 1 ? BLOCK : random.nextInt(BLOCK);
      long to = (long) slot * BLOCK;
      WorkRequest read =
          new WorkRequest(2)
              .read(
                  slot, source.address() + (long) wanted[slot] * BLOCK, source.remote().remoteKey())
              .local(sink.region(), to, split)
              .signalled();
      return split == BLOCK ? read : read.local(sink.region(), to + split, BLOCK - split);
    }

    private int poll() {
      queue.poll(
          BLOCKS,
          completion -> {
            assertThat(completion.status()).isEqualTo(WorkStatus.SUCCESS);
            int slot = (int) completion.requestId();
            assertAll(sink.bytes(slot * BLOCK, BLOCK), wanted[slot] + 1);
            open--;
          });
      return open;
    }
  }
}
