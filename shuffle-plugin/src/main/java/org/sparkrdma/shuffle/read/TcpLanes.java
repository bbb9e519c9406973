// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.Map;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Lanes by address, on threads of their own. One thread lives from the start to the close. While
 * there is no thread for another address, lanes wait for each other. Safe for any thread; owned by
 * {@link TcpFallback}.
 */
final class TcpLanes implements AutoCloseable {
  /** Pauses of lanes on these threads. */
  @FunctionalInterface
  interface Pause {
    /** Same as {@link TaskThreads#tryExecuteAfter}. */
    boolean tryStart(TaskThreads threads, TaskThreads.Task lane, long ms);
  }

  private final TaskThreads threads;
  private final Consumer<TcpRequest> issue;
  private final TcpLane.Pause pause;

  /** Lanes whose requests are queued or being issued. */
  private final Map<String, TcpLane> lanes;

  /** Takes requests whose address has no lane, while there is no memory for one. */
  private final TcpLane spare;

  /**
   * @param threads started and closed here
   * @param issue as in {@link TcpLane}
   * @param lanes no lane at first; safe for any thread
   */
  TcpLanes(
      TaskThreads threads, Consumer<TcpRequest> issue, Pause pause, Map<String, TcpLane> lanes) {
    this.threads = threads;
    this.issue = issue;
    this.pause = (lane, ms) -> pause.tryStart(threads, lane, ms);
    this.lanes = lanes;
    this.spare = new TcpLane(threads, issue, this.pause, () -> {});
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
    TcpLane lane;
    try {
      lane = add(request);
    } catch (Throwable e) {
      // No memory for a lane; the request is in none.
      spare.add(request);
      lane = spare;
    }
    lane.start();
  }

  private TcpLane add(TcpRequest request) {
    String hostPort = request.peer().hostPort();
    TcpLane lane = lanes.computeIfAbsent(hostPort, this::newLane);
    while (!lane.add(request)) {
      lanes.remove(hostPort, lane);
      lane = lanes.computeIfAbsent(hostPort, this::newLane);
    }
    return lane;
  }

  private TcpLane newLane(String hostPort) {
    return new TcpLane(threads, issue, pause, () -> removeIdle(hostPort));
  }

  private void removeIdle(String hostPort) {
    TcpLane lane = lanes.get(hostPort);
    if (lane != null && lane.endIfIdle()) {
      lanes.remove(hostPort, lane);
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
