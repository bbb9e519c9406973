// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class CmThreadsTest {
  private final List<String> ran = new CopyOnWriteArrayList<>();
  private final AtomicLong nowNs = new AtomicLong();
  private final CmThreads routes = CmThreads.start("rdma-routes-test0", 1, nowNs::get);

  @Test
  void shouldRunTheCallsInTurnAndTheLastOneAtClose() {
    assertThat(routes.add(() -> ran.add("first"))).isTrue();
    assertThat(routes.add(() -> ran.add("second"))).isTrue();

    routes.close(() -> ran.add("last"));

    assertThat(ran).containsExactly("first", "second", "last");
  }

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
  void shouldTakeNoCallAfterClose() {
    routes.close(() -> {});

    assertThat(routes.add(() -> ran.add("late"))).isFalse();
    assertThat(ran).isEmpty();
  }

  @Test
  void shouldCloseAlthoughACallHangsAndRunTheLastOneWhenItEnds() throws InterruptedException {
    CountDownLatch answer = new CountDownLatch(1);
    CountDownLatch last = new CountDownLatch(1);
    routes.add(() -> awaitUninterruptibly(answer));

    routes.close(last::countDown);

    assertThat(last.getCount()).isOne();
    answer.countDown();
    last.await();
  }

  @Test
  void shouldRefuseCallsWhenTooManyWait() {
    CountDownLatch answer = new CountDownLatch(1);
    routes.add(() -> awaitUninterruptibly(answer));

    int added = 0;
    while (routes.add(() -> ran.add("call"))) {
      added++;
    }

    answer.countDown();
    routes.close(() -> {});
    assertThat(ran).hasSize(added);
  }

  @Test
  void shouldReportACallThatDoesNotReturnOnceAndTheNextOneAfterACallInTime() throws Exception {
    CountDownLatch first = addHangingCall();
    assertThat(reports(0)).isEmpty();
    assertThat(reports(CmThreads.SLOW_NS - 1)).isEmpty();
    assertThat(reports(1))
        .startsWith("rdma_resolve_route does not return;")
        .contains("thread=rdma-routes-test0 seconds=5", "ibacm");
    assertThat(reports(CmThreads.SLOW_NS)).isEmpty();
    first.countDown();

    CountDownLatch second = addHangingCall();
    assertThat(reports(CmThreads.SLOW_NS)).as("no call was in time between").isEmpty();
    second.countDown();

    addHangingCall().countDown();
    CountDownLatch last = addHangingCall();
    assertThat(reports(CmThreads.SLOW_NS)).startsWith("rdma_resolve_route does not return;");
    last.countDown();
    routes.close(() -> {});
    assertThat(reports(CmThreads.SLOW_NS)).as("no call runs").isEmpty();
  }

  /** Returns when the call runs; it ends with the latch. */
  private CountDownLatch addHangingCall() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    routes.add(
        () -> {
          begun.countDown();
          awaitUninterruptibly(end);
        });
    begun.await();
    return end;
  }

  /** The lines that a check after this time logs, each from its text on. */
  private String reports(long laterNs) {
    nowNs.addAndGet(laterNs);
    PrintStream before = System.err;
    var bytes = new ByteArrayOutputStream();
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      routes.reportSlowCall();
    } finally {
      System.setErr(before);
    }
    String text = bytes.toString(StandardCharsets.UTF_8);
    return text.substring(Math.max(0, text.indexOf("rdma_resolve_route")));
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
