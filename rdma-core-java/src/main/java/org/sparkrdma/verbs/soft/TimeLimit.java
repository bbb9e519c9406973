// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

/**
 * The time limit of an endpoint's present state; a new one replaces it. Confined to the device
 * thread.
 */
final class TimeLimit {
  private final DeviceLoop loop;
  private Timers.Timer timer;

  TimeLimit(DeviceLoop loop) {
    this.loop = loop;
  }

  /** Runs a command after a time, unless another limit is set or this is cancelled before. */
  void set(long delayNs, Runnable onTimeout) {
    cancel();
    timer =
        loop.schedule(
            System.nanoTime() + delayNs,
            () -> {
              timer = null;
              onTimeout.run();
            });
  }

  void cancel() {
    if (timer != null) {
      loop.cancel(timer);
      timer = null;
    }
  }
}
