// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.device.Capability;

/** Threads that post to one queue pair while its owner polls, breaks or closes it. */
@Tag("slow")
public abstract class PostContract extends VerbsContract {
  private static final int THREADS = 3;
  private static final int READS = 12_000;
  private static final int ENDS = 12;
  private static final int BLOCK = 4096;
  private static final int FILL = 7;

  private Node.Block source;
  private Node.Block sink;

  /** Completions of each request; the test's thread. */
  private final int[] completed = new int[READS];

  private int completions;
  private int failures;

  @BeforeEach
  final void openBlocks() throws VerbsException {
    assumeCan(Capability.POST_BESIDE_POLL);
    source = server.block(BLOCK, FILL, Node.READABLE);
    sink = client.block(BLOCK, 0, Node.SINK);
  }

  /** So that nothing holds the device, whose mappings the leak check counts. */
  @AfterEach
  final void dropBlocks() {
    source = null;
    sink = null;
  }

  @Test
  void shouldCompleteEachRequestOnceThatThreadsPostWhileAnotherPolls() throws Exception {
    int reads = READS / engine().shorter();
    Posters posters = new Posters(connect().client(), reads);
    spinUntil(
        () -> {
          takeCompletions();
          return completions == reads;
        });
    posters.join();

    assertThat(failures).isZero();
    posters.assertCompletedOnce();
    assertAll(sink.bytes(), FILL);
  }

  /** Threads go on posting behind the end: the queue pair flushes what they post. */
  @Test
  void shouldCompleteEachRequestOnceThatThreadsPostWhileTheQueuePairBreaks() throws Exception {
    for (int round = 0; round < Math.max(2, ENDS / engine().shorter()); round++) {
      Pair pair = connect();
      Connection ending = round % 2 == 0 ? pair.clientEnd() : pair.serverEnd();
      Posters posters = new Posters(pair.client(), READS);
      int atLeast = 1 + round * THREADS;
      until(
          () -> {
            takeCompletions();
            if (completions >= atLeast && pair.server().state() == QueuePairState.READY_TO_SEND) {
              ending.disconnect();
            }
            return failures > 2 * Node.DEPTH || completions == READS;
          });
      posters.stop();
      posters.join();
      until(
          () -> {
            takeCompletions();
            return completions >= posters.count();
          });
      posters.assertCompletedOnce();
      close(pair);
    }
  }

  @Test
  void shouldRefuseWhatThreadsPostToAClosedQueuePair() throws Exception {
    for (int round = 0; round < Math.max(2, ENDS / engine().shorter()); round++) {
      Pair pair = connect();
      Posters posters = new Posters(pair.client(), READS);
      int atLeast = 1 + round * THREADS;
      spinUntil(
          () -> {
            takeCompletions();
            return completions >= atLeast;
          });
      pair.clientEnd().close();
      posters.join();
      assertThat(posters.refused.get()).isEqualTo(THREADS);
      close(pair);
    }
  }

  private void takeCompletions() {
    client.pollQueue();
    for (Result result : client.results) {
      completed[(int) result.id()]++;
      completions++;
      failures += result.succeeded() ? 0 : 1;
    }
    client.results.clear();
  }

  private void close(Pair pair) {
    pair.clientEnd().close();
    pair.serverEnd().close();
    until(() -> !client.poll() && !server.poll());
    client.results.clear();
    client.events.clear();
    server.results.clear();
    server.events.clear();
    Arrays.fill(completed, 0);
    completions = 0;
    failures = 0;
  }

  /** Threads that post READs with consecutive ids, until they have posted all or are stopped. */
  private final class Posters {
    private final QueuePair queuePair;
    private final RemoteRegion remote = source.region().remote();
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicIntegerArray posted = new AtomicIntegerArray(READS);
    private final List<Thread> threads = new ArrayList<>();
    private final int reads;
    private volatile boolean stopped;

    /** Threads whose post was refused because the queue pair is closed. */
    final AtomicInteger refused = new AtomicInteger();

    Posters(QueuePair queuePair, int reads) {
      this.queuePair = queuePair;
      this.reads = reads;
      for (int i = 0; i < THREADS; i++) {
        var thread = new Thread(this::run, "poster-" + i);
        threads.add(thread);
        thread.start();
      }
    }

    private void run() {
      var request = new WorkRequest(1);
      try {
        for (int id = next.getAndIncrement(); id < reads; id = next.getAndIncrement()) {
          request.read(id, remote.address(), remote.remoteKey());
          request.local(sink.region(), 0, BLOCK).signalled();
          while (!queuePair.postSend(request)) {
            if (stopped) {
              return;
            }
            Thread.onSpinWait();
          }
          posted.set(id, 1);
        }
      } catch (IllegalStateException e) {
        refused.incrementAndGet();
      }
    }

    void stop() {
      stopped = true;
      next.set(reads);
    }

    void join() throws InterruptedException {
      for (Thread thread : threads) {
        thread.join();
      }
    }

    int count() {
      int count = 0;
      for (int id = 0; id < READS; id++) {
        count += posted.get(id);
      }
      return count;
    }

    void assertCompletedOnce() {
      for (int id = 0; id < READS; id++) {
        assertThat(completed[id]).as("completions of request %s", id).isEqualTo(posted.get(id));
      }
    }
  }
}
