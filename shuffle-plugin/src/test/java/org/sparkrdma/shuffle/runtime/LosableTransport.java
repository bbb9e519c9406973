// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.runtime.RdmaStart.DeviceStart;
import org.sparkrdma.shuffle.runtime.RdmaStart.TransportStart;
import org.sparkrdma.shuffle.transport.StartedTransport;
import org.sparkrdma.verbs.VerbsException;

/** Starts transports that do nothing, each of which a test can lose later. Safe for any thread. */
final class LosableTransport implements TransportStart {
  /** A step of a start, before it succeeds. */
  @FunctionalInterface
  interface StartStep {
    /**
     * @param number of the start; 1 is the first
     */
    void run(int number, DeviceStart open) throws VerbsException;
  }

  private final FakeEngine engine;
  private final StartStep step;
  private final List<Consumer<String>> listeners = new ArrayList<>();

  LosableTransport(FakeEngine engine) {
    this(engine, (number, open) -> {});
  }

  LosableTransport(FakeEngine engine, StartStep step) {
    this.engine = engine;
    this.step = step;
  }

  @Override
  public StartedTransport start(DeviceStart open) throws VerbsException {
    step.run(addStart(open), open);
    return engine.transport();
  }

  private synchronized int addStart(DeviceStart open) {
    listeners.add(open.onLost());
    notifyAll();
    return listeners.size();
  }

  /** Number of starts, whatever became of them. */
  synchronized int starts() {
    return listeners.size();
  }

  /** Waits until this number of starts has begun; the test's time limit bounds it. */
  synchronized void awaitStarts(int count) throws InterruptedException {
    while (listeners.size() < count) {
      wait();
    }
  }

  /**
   * Reports that a transport cannot be used any more.
   *
   * @param number of its start; 1 is the first
   */
  void lose(int number, String reason) {
    Consumer<String> listener;
    synchronized (this) {
      listener = listeners.get(number - 1);
    }
    listener.accept(reason);
  }
}
