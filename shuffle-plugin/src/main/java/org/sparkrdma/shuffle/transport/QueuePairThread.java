// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.thread.ThreadJoin;

/**
 * The thread that creates queue pairs, which takes 1 to 3 ms each on a card: the agent reads and
 * serves meanwhile. It waits for the device only, never for a disk or a peer. {@link
 * RdmaConnection} says what it does and hands the queue pair to the agent.
 *
 * <p>Connections wait for their turn in order, and take memory when it comes: so neither many
 * requests nor a device that hangs use up the memory of others. Methods are confined to the agent
 * unless they say otherwise. The transport creates and starts it, and closes it after the agent has
 * ended and before the connections are destroyed.
 */
final class QueuePairThread {
  /** Of {@link #turns} while nothing is created. */
  static final long IDLE = -1;

  private static final Logger LOG = LoggerFactory.getLogger(QueuePairThread.class);

  /** Creations that run or wait in the thread: it has the next one when it ends one. */
  private static final int OPEN = 2;

  /** Maximum number of turns that one iteration of the agent gives. */
  private static final int TURNS_AT_ONCE = 4;

  /** Ends the thread. */
  private static final Runnable END = QueuePairThread::end;

  /** What connections do when it is their turn. */
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();

  /** Creations whose end the agent does not know. */
  private int open;

  private final BlockingQueue<Runnable> creations = new LinkedBlockingQueue<>();
  private final Thread thread = new Thread(this::run, "rdma-queue-pairs");

  /** Receives the reason why no queue pair can be created any more. */
  private final Consumer<String> onLost;

  /** Creations that have begun, and those that have ended. */
  private final AtomicLong turns = new AtomicLong();

  QueuePairThread(Consumer<String> onLost) {
    this.onLost = onLost;
    thread.setDaemon(true);
  }

  Thread thread() {
    return thread;
  }

  /**
   * Changes with each creation; {@link #IDLE} between them. {@link TransportWatchdog} looks at it.
   * Safe for any thread.
   */
  long turns() {
    long now = turns.get();
    return now % 2 == 0 ? IDLE : now;
  }

  /** Number of connections that wait for their turn. */
  int waiting() {
    return waiting.size();
  }

  /** A connection waits for its turn, to call {@link #add} or not. */
  void await(Runnable turn) {
    waiting.add(turn);
  }

  /** Gives turns, as far as creations have ended; returns their number. */
  int giveTurns() {
    int given = 0;
    while (given < TURNS_AT_ONCE && open < OPEN && !waiting.isEmpty()) {
      waiting.poll().run();
      given++;
    }
    return given;
  }

  /** Adds a creation, which does not begin after the close. */
  void add(Runnable creation) {
    open++;
    creations.add(creation);
  }

  /** The agent has taken back what a creation has ended with. */
  void onEnded() {
    open--;
  }

  private static void end() {}

  private void run() {
    try {
      for (Runnable next = take(); next != END; next = take()) {
        turns.incrementAndGet();
        try {
          next.run();
        } finally {
          turns.incrementAndGet();
        }
      }
    } catch (RuntimeException | LinkageError e) {
      LOG.error("Creating a queue pair failed; blocks use TCP until RDMA is started again", e);
      onLost.accept("creating a queue pair failed: " + e);
    }
  }

  private Runnable take() {
    while (true) {
      try {
        return creations.take();
      } catch (InterruptedException e) {
        // Only the close ends the thread.
      }
    }
  }

  /** Takes the next creation. For simulations, in place of the thread; null when there is none. */
  Runnable poll() {
    return creations.poll();
  }

  /**
   * Ends the thread after the creation that runs; the others are dropped. A second call waits
   * again. Any thread.
   *
   * @return false when the device has not returned within the limit
   */
  boolean close(Duration limit) {
    creations.clear();
    creations.add(END);
    return ThreadJoin.await(thread, limit);
  }
}
