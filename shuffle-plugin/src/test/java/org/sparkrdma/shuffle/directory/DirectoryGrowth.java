// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.thread.ControlThread;

/**
 * Counts the messages of the driver's directory when executors start and then look up each other.
 * The driver is real; of the executors some are real clients, the others only publish.
 */
public final class DirectoryGrowth {
  private static final int MAX_CLIENTS = 16;

  private DirectoryGrowth() {}

  /**
   * Messages to the driver of one executor.
   *
   * @param messages of the real client with the most
   * @param records endpoints in the answers to it
   */
  public record Messages(long messages, long records) {}

  /** All executors start, then each real client looks up all executors. */
  public static Messages of(int executors) {
    DirectoryService driver = new DirectoryService("");
    List<Client> clients = new ArrayList<>();
    try {
      for (int i = 0; i < executors; i++) {
        if (i < MAX_CLIENTS) {
          Client client = new Client(driver);
          clients.add(client);
          client.directory.publish(endpoint(i)).join();
        } else {
          driver.answer(
              new ArrayList<>(
                  List.of(
                      DirectoryService.PUBLISH,
                      RecordCodec.encode(ExecutorRecord.available(endpoint(i), i + 1L, 1)))));
        }
      }
      clients.forEach(client -> client.findAll(executors));
    } finally {
      clients.forEach(Client::close);
    }
    return new Messages(
        clients.stream().mapToLong(client -> client.messages).max().orElseThrow(),
        clients.stream().mapToLong(client -> client.records).max().orElseThrow());
  }

  private static Endpoint endpoint(int executor) {
    return new Endpoint(
        "executor-" + executor,
        TestAddresses.listener("10.0.0.1", 4_711),
        "virtual",
        1,
        executor + 1L,
        new byte[Endpoint.TOKEN_BYTES]);
  }

  /** An executor's side of the directory. Its thread counts, and has ended a call at each read. */
  private static final class Client {
    private final DirectoryService driver;
    private final ControlThread control = new ControlThread();
    private final DirectoryClient directory =
        new DirectoryClient(this::ask, Duration.ofSeconds(20), () -> 0, control);
    private volatile long messages;
    private volatile long records;

    Client(DirectoryService driver) {
      this.driver = driver;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate")
    private Object ask(Object message) {
      messages++;
      Object answer = driver.answer(message);
      if (answer instanceof List<?> changes) {
        records += ((List<?>) changes.get(2)).size();
      }
      return answer;
    }

    void close() {
      directory.close();
      control.shutdownNow();
    }

    void findAll(int executors) {
      for (int executor = 0; executor < executors; executor++) {
        if (directory.find("executor-" + executor).join().isEmpty()) {
          throw new IllegalStateException("not found: " + executor);
        }
      }
    }
  }
}
