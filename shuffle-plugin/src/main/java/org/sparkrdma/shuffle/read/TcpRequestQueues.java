// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.Map;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Queues by address, on threads of their own. One thread lives from the start to the close. While
 * there is no thread for another address, queues wait for each other. Safe for any thread; owned by
 * {@link TcpFallback}.
 */
final class TcpRequestQueues implements AutoCloseable {
  /** Pauses of queues on these threads. */
  @FunctionalInterface
  interface Pause {
    /** Same as {@link TaskThreads#tryExecuteAfter}. */
    boolean tryStart(TaskThreads threads, TaskThreads.Task queue, long ms);
  }

  private final TaskThreads threads;
  private final Consumer<TcpRequest> issue;
  private final TcpRequestQueue.Pause pause;

  /** Queues whose requests are queued or being issued. */
  private final Map<String, TcpRequestQueue> queues;

  /** Takes requests whose address has no queue, while there is no memory for one. */
  private final TcpRequestQueue spare;

  /**
   * @param threads started and closed here
   * @param issue as in {@link TcpRequestQueue}
   * @param queues no queue at first; safe for any thread
   */
  TcpRequestQueues(
      TaskThreads threads,
      Consumer<TcpRequest> issue,
      Pause pause,
      Map<String, TcpRequestQueue> queues) {
    this.threads = threads;
    this.issue = issue;
    this.pause = (queue, ms) -> pause.tryStart(threads, queue, ms);
    this.queues = queues;
    this.spare = new TcpRequestQueue(threads, issue, this.pause, () -> {});
  }

  /**
   * Starts the thread that lives until the close.
   *
   * @throws org.sparkrdma.shuffle.thread.ThreadShortageException when the system refuses it
   */
  void start() {
    threads.start();
  }

  /** Issues a request. Never throws, and allocates nothing that it depends on. */
  void fetch(TcpRequest request) {
    TcpRequestQueue queue;
    try {
      queue = add(request);
    } catch (Throwable e) {
      // No memory for a queue; the request is in none.
      spare.add(request);
      queue = spare;
    }
    queue.start();
  }

  private TcpRequestQueue add(TcpRequest request) {
    String hostPort = request.peer().hostPort();
    TcpRequestQueue queue = queues.computeIfAbsent(hostPort, this::newQueue);
    while (!queue.add(request)) {
      queues.remove(hostPort, queue);
      queue = queues.computeIfAbsent(hostPort, this::newQueue);
    }
    return queue;
  }

  private TcpRequestQueue newQueue(String hostPort) {
    return new TcpRequestQueue(threads, issue, pause, () -> removeIdle(hostPort));
  }

  private void removeIdle(String hostPort) {
    TcpRequestQueue queue = queues.get(hostPort);
    if (queue != null && queue.endIfIdle()) {
      queues.remove(hostPort, queue);
    }
  }

  /** Whether another address would wait for a thread. */
  boolean isExhausted() {
    return threads.isExhausted();
  }

  /** Ends all pauses, and from now on there are none. */
  void endPauses() {
    threads.endDelays();
  }

  /**
   * Ends the threads after all queued requests are issued; later requests are issued on their
   * caller's thread.
   */
  @Override
  public void close() {
    threads.close();
  }
}
