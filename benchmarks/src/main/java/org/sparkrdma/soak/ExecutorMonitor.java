// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Samples the executors every few seconds and injects faults between samples, on a thread of its
 * own from {@link #start} to {@link #end}. The samples may be read after that.
 */
final class ExecutorMonitor {
  private static final int TICKS_PER_SAMPLE = 5;

  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread daemon = new Thread(task, "soak-monitor");
            daemon.setDaemon(true);
            return daemon;
          });
  private final Supplier<List<Long>> running;
  private final ExecutorFaults faults;
  private final double faultsUntilSeconds;
  private final List<Sample> samples = new ArrayList<>();
  private ScheduledFuture<?> ticking;
  private long startNs;
  private int ticks;
  private IOException failure;

  /**
   * @param running processes to sample, whose heap is resident from the start
   * @param faultsUntilSeconds seconds after the start from which no fault is injected
   */
  ExecutorMonitor(Supplier<List<Long>> running, ExecutorFaults faults, double faultsUntilSeconds) {
    this.running = running;
    this.faults = faults;
    this.faultsUntilSeconds = faultsUntilSeconds;
  }

  void start() {
    startNs = System.nanoTime();
    ticking = thread.scheduleAtFixedRate(() -> tick(seconds()), 1, 1, TimeUnit.SECONDS);
  }

  /** Does what is due at this time, in seconds since the start. */
  void tick(double seconds) {
    if (ticks++ % TICKS_PER_SAMPLE == 0) {
      running.get().forEach(pid -> Sample.take(pid, seconds).ifPresent(samples::add));
    }
    try {
      if (seconds < faultsUntilSeconds) {
        faults.apply(seconds);
      } else {
        faults.end();
      }
    } catch (IOException e) {
      failure = e;
      thread.shutdown();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the thread and continues all stopped executors. */
  void end() throws IOException, InterruptedException {
    ticking.cancel(false);
    thread.shutdown();
    thread.awaitTermination(1, TimeUnit.MINUTES);
    faults.end();
    if (failure != null) {
      throw failure;
    }
  }

  double seconds() {
    return (System.nanoTime() - startNs) / 1e9;
  }

  /** The samples, in the order of time. */
  List<Sample> samples() {
    return samples;
  }
}
