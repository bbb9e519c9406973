// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkrdma.shuffle.address.TestAddresses;

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

  /** All executors start, then each real client looks up all others. */
  public static Messages of(int executors) {
    DirectoryService driver = new DirectoryService("");
    for (int i = 0; i < executors; i++) {
      driver.answer(
          new ArrayList<>(
              List.of(
                  DirectoryService.PUBLISH,
                  RecordCodec.encode(
                      ExecutorRecord.available(endpoint("other-" + i, i + 1L), i + 1L, 1)))));
    }
    long messages = 0;
    long records = 0;
    for (int i = 0; i < Math.min(MAX_CLIENTS, executors); i++) {
      AtomicLong asked = new AtomicLong();
      AtomicLong received = new AtomicLong();
      DriverCall call =
          message -> {
            asked.incrementAndGet();
            Object answer = driver.answer(message);
            if (answer instanceof List<?> changes) {
              received.addAndGet(((List<?>) changes.get(2)).size());
            }
            return answer;
          };
      try (DirectoryClient client = new DirectoryClient(call, Duration.ofSeconds(20), () -> 0)) {
        client.publish(endpoint("client-" + i, executors + i + 1L)).join();
        for (int peer = 0; peer < executors; peer++) {
          if (client.find("other-" + peer).join().isEmpty()) {
            throw new IllegalStateException("not found: " + peer);
          }
        }
      }
      messages = Math.max(messages, asked.get());
      records = Math.max(records, received.get());
    }
    return new Messages(messages, records);
  }

  private static Endpoint endpoint(String executorId, long incarnation) {
    return new Endpoint(
        executorId,
        TestAddresses.listener("10.0.0.1", 4_711),
        "virtual",
        1,
        incarnation,
        new byte[Endpoint.TOKEN_BYTES]);
  }
}
