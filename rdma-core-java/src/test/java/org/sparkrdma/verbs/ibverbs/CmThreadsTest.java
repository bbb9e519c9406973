// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class CmThreadsTest {
  private final List<String> ran = new CopyOnWriteArrayList<>();
  private final CmThreads routes = CmThreads.start("rdma-cm-test0", 1);

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
