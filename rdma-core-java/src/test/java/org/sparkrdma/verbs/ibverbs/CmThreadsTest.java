// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class CmThreadsTest {
  private final List<String> ran = new CopyOnWriteArrayList<>();
  private final CmThreads routes = CmThreads.start("rdma-cm-test0", 1, Thread::new);

  @Test
  void shouldRunTheNextCallAfterOneThatThrows() {
    routes.add(
        () -> {
          throw new OutOfMemoryError("thrown by the test");
        });
    routes.add(() -> ran.add("next"));

    routes.close(() -> ran.add("last"));

    assertThat(ran).containsExactly("next", "last");
  }

  @Test
  void shouldRefuseCallsWhenTooManyWait() throws InterruptedException {
    CountDownLatch answer = new CountDownLatch(1);
    CountDownLatch last = new CountDownLatch(1);
    routes.add(() -> awaitUninterruptibly(answer));

    int added = 0;
    while (routes.add(() -> ran.add("call"))) {
      added++;
    }

    answer.countDown();
    routes.close(last::countDown);
    last.await();
    assertThat(ran).hasSize(added);
  }

  /** The start is tried again and again, and each left threads. */
  @Test
  void shouldLeaveNoThreadWhenTheSystemRefusesOne() throws InterruptedException {
    List<Thread> created = new CopyOnWriteArrayList<>();
    assertThatThrownBy(
            () ->
                CmThreads.start(
                    "rdma-cm-test1",
                    CmThreads.CONNECT_THREADS,
                    work -> {
                      Thread thread = created.size() < 5 ? new Thread(work) : new Refused(work);
                      created.add(thread);
                      return thread;
                    }))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(created).hasSize(6);
    for (Thread thread : created) {
      thread.join();
    }
    routes.close(() -> {});
  }

  private static final class Refused extends Thread {
    Refused(Runnable work) {
      super(work);
    }

    @Override
    public synchronized void start() {
      throw new OutOfMemoryError("unable to create native thread");
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    boolean done = false;
    while (!done) {
      try {
        latch.await();
        done = true;
      } catch (InterruptedException e) {
        // The test ends it.
      }
    }
  }
}
