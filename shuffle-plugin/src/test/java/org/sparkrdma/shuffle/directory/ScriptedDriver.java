// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

/** A driver with a directory, which answers requests to exclude an executor as a test says. */
public final class ScriptedDriver {
  private final DirectoryService service = new DirectoryService("");
  private final CountDownLatch published = new CountDownLatch(1);
  private final CountDownLatch withdrawn = new CountDownLatch(1);
  private final RefusingScheduler scheduler = new RefusingScheduler();
  private final Callable<Boolean> exclusion;

  /** Whether the next withdrawal gets no answer, and the task of its retry is refused. */
  private volatile boolean losesWithdrawal;

  /**
   * @param exclusion called for each request to exclude an executor; throws when the driver does
   *     not answer
   */
  public ScriptedDriver(Callable<Boolean> exclusion) {
    this.exclusion = exclusion;
  }

  /** Another executor has RDMA. */
  public void publish(Endpoint endpoint) {
    service.answer(
        new ArrayList<>(
            List.of(
                DirectoryService.PUBLISH,
                RecordCodec.encode(
                    ExecutorRecord.available(endpoint, endpoint.incarnation(), 1)))));
  }

  /** The client's thread takes none of the next tasks. */
  public void refuseTasks(int count) {
    scheduler.refuse(count);
  }

  /** Number of tasks that the client's thread will not take. */
  public int tasksToRefuse() {
    return scheduler.left();
  }

  /** The next withdrawal gets no answer, and the client's thread does not take its retry. */
  public void loseWithdrawalAndItsRetry() {
    losesWithdrawal = true;
  }

  /** Client of an executor, one for each driver; the caller closes it. */
  public DirectoryClient client() {
    return new DirectoryClient(this::answer, Duration.ofSeconds(20), System::nanoTime, scheduler);
  }

  /** Waits until a client has published an endpoint; the test's time limit bounds it. */
  public void awaitPublished() throws InterruptedException {
    published.await();
  }

  /** Waits until a client has withdrawn its endpoint; the test's time limit bounds it. */
  public void awaitWithdrawn() throws InterruptedException {
    withdrawn.await();
  }

  private Object answer(Object message) throws Exception {
    List<?> request = RecordCodec.list(message, 2);
    Object kind = request.get(0);
    if (kind.equals(DirectoryService.EXCLUDE)) {
      return exclusion.call();
    }
    if (!kind.equals(DirectoryService.PUBLISH)) {
      return service.answer(message);
    }
    boolean available = RecordCodec.decode(request.get(1)).endpoint().isPresent();
    if (!available && losesWithdrawal) {
      losesWithdrawal = false;
      // On the client's thread, whose next task is the retry.
      refuseTasks(1);
      throw new IOException("lost answer");
    }
    Object answer = service.answer(message);
    (available ? published : withdrawn).countDown();
    return answer;
  }
}
