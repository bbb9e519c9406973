// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.sparkrdma.shuffle.thread.ControlThread;

/** A driver with a directory. */
public final class ScriptedDriver {
  /** No look-up times out in a test. */
  private static final Duration LOOKUP_LIMIT = Duration.ofSeconds(60);

  private final DirectoryService service = new DirectoryService("", (executorId, values) -> true);
  private final AtomicInteger queries = new AtomicInteger();
  private final CountDownLatch published = new CountDownLatch(1);
  private volatile boolean silent;

  /** Nothing is published yet. */
  public ScriptedDriver() {}

  /** Another executor has RDMA. */
  public void publish(Endpoint endpoint) {
    service.answer(
        new ArrayList<>(
            List.of(
                DirectoryService.PUBLISH,
                RecordCodec.encode(
                    ExecutorRecord.available(endpoint, endpoint.incarnation(), 1)))));
  }

  /** Another executor lives and has no RDMA. */
  public void withdraw(String executorId) {
    service.answer(
        new ArrayList<>(
            List.of(
                DirectoryService.PUBLISH,
                RecordCodec.encode(
                    ExecutorRecord.unavailable(executorId, List.of("no device"), 1, 1)))));
  }

  /** Spark has removed an executor. */
  public void remove(String executorId) {
    service.remove(executorId);
  }

  /** Queries fail from now on, or do not any more. */
  public void beSilent(boolean fail) {
    silent = fail;
  }

  /** Number of queries for changes. */
  public int queries() {
    return queries.get();
  }

  /** Same as {@link #client(ControlThread)} with another clock. */
  public DirectoryClient client(ControlThread control, LongSupplier nowNs) {
    return new DirectoryClient(this::answer, LOOKUP_LIMIT, nowNs, control);
  }

  /** Client of an executor, one for each driver; the caller closes it. */
  public DirectoryClient client(ControlThread control) {
    return client(control, System::nanoTime);
  }

  /** Waits until a client has published an endpoint; the test's time limit bounds it. */
  public void awaitPublished() throws InterruptedException {
    published.await();
  }

  /** Its answer to a message, at once. */
  Object answer(Object message) {
    List<?> request = RecordCodec.list(message, 2);
    queries.addAndGet(request.get(0).equals(DirectoryService.CHANGES) ? 1 : 0);
    if (silent) {
      throw new IllegalStateException("no answer in time");
    }
    Object answer = service.answer(message);
    if (request.get(0).equals(DirectoryService.PUBLISH)
        && RecordCodec.decode((byte[]) request.get(1)).endpoint().isPresent()) {
      published.countDown();
    }
    return answer;
  }
}
