// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;

/**
 * Waits for completions and connection events. The thread sleeps on the completion channel, which
 * both wake.
 *
 * <p>Confined to the thread that posts the work. The owner of the device closes its objects.
 */
final class EventWaiter {
  /** Maximum time to wait for an answer of the other end. */
  static final Duration TIMEOUT = Duration.ofSeconds(30);

  private static final int POLLED_AT_ONCE = 16;
  private static final long PAUSE_NS = 1_000_000;

  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final ConnectionManager manager;

  /** Bytes received or read by each completed request, by its id. */
  private final Map<Long, Long> completed = new HashMap<>();

  private ConnectionEvent event;

  /**
   * @param channel that completions of the queue and events of the manager wake
   */
  EventWaiter(CompletionChannel channel, CompletionQueue queue, ConnectionManager manager) {
    this.channel = channel;
    this.queue = queue;
    this.manager = manager;
  }

  /**
   * Waits for the next event.
   *
   * @throws IllegalStateException when it is of another type, or does not come in time
   */
  ConnectionEvent await(ConnectionEvent.Type type, Duration limit) {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    while (event == null) {
      pollOrWait(deadlineNs, type);
    }
    ConnectionEvent taken = event;
    event = null;
    if (taken.type() != type) {
      throw new IllegalStateException(
          "unexpected event: type=" + taken.type() + " reason=" + taken.reason());
    }
    return taken;
  }

  /**
   * Waits for the completion of a request, for at most {@link #TIMEOUT}, and returns the number of
   * bytes received or read. Of two requests with the same id, the first must be awaited before the
   * second is posted.
   *
   * @throws IllegalStateException when a request fails, the connection ends, or time runs out
   */
  long await(long requestId) {
    long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
    while (!completed.containsKey(requestId)) {
      if (event != null) {
        throw new IllegalStateException("the connection has ended: type=" + event.type());
      }
      pollOrWait(deadlineNs, requestId);
    }
    return completed.remove(requestId);
  }

  /** Polls completions and one event; waits a little when there are none. */
  private void pollOrWait(long deadlineNs, Object awaited) {
    if (System.nanoTime() - deadlineNs > 0) {
      throw new IllegalStateException("no answer in time: awaited=" + awaited);
    }
    boolean polled = queue.poll(POLLED_AT_ONCE, this::onCompletion) > 0;
    event = event == null ? manager.pollEvent() : event;
    if (polled || event != null) {
      return;
    }
    queue.arm();
    // A completion that came before arm() wakes nothing.
    if (queue.poll(POLLED_AT_ONCE, this::onCompletion) == 0) {
      channel.await(PAUSE_NS);
    }
  }

  private void onCompletion(WorkCompletion completion) {
    if (completion.succeeded()) {
      completed.put(completion.requestId(), completion.byteLength());
    } else if (completion.status() != WorkStatus.FLUSH_ERROR) {
      // Work is flushed when the connection ends; its event says so.
      throw new IllegalStateException("work request failed: status=" + completion.status());
    }
  }
}
