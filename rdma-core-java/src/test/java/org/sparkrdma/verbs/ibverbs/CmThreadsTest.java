// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.faults.RefusingThreads;

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
    Semaphore answer = new Semaphore(0);
    Semaphore last = new Semaphore(0);
    routes.add(answer::acquireUninterruptibly);

    int added = 0;
    while (routes.add(() -> ran.add("call"))) {
      added++;
    }

    answer.release();
    routes.close(last::release);
    last.acquire();
    assertThat(ran).hasSize(added);
  }

  /** The start is tried again and again, and each left threads. */
  @Test
  void shouldLeaveNoThreadWhenTheSystemRefusesOne() {
    var threads = new RefusingThreads(5);
    assertThatThrownBy(() -> CmThreads.start("rdma-cm-test1", CmThreads.CONNECT_THREADS, threads))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(threads.created()).isEqualTo(6);
    routes.close(() -> {});
  }
}
