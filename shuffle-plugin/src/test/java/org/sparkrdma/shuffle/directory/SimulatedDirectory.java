// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.shuffle.thread.ControlThread;

/** The directory of a driver, and one executor that looks up others there. For one thread. */
public final class SimulatedDirectory implements AutoCloseable {
  private final DirectoryService driver = new DirectoryService("");
  private final ControlThread control = new ControlThread();
  private final DirectoryClient client =
      new DirectoryClient(driver::answer, Duration.ofSeconds(20), () -> 0, control);

  /** Nothing is published yet. */
  public SimulatedDirectory() {}

  /** An executor has started RDMA. */
  public void publish(Endpoint endpoint) {
    ExecutorRecord record = ExecutorRecord.available(endpoint, endpoint.incarnation(), 1);
    driver.answer(new ArrayList<>(List.of(DirectoryService.PUBLISH, RecordCodec.encode(record))));
  }

  /** Looks up an executor, as the one that reads its blocks. */
  public Optional<Endpoint> find(String executorId) {
    return client.find(executorId).join();
  }

  /** Spark has removed an executor. */
  public void remove(String executorId) {
    driver.remove(executorId);
  }

  /** The driver's side. */
  public Object driver() {
    return driver;
  }

  /** Entries of the executor that looks up others. */
  public int clientSize() {
    return client.size();
  }

  @Override
  public void close() {
    client.close();
    control.shutdownNow();
  }
}
