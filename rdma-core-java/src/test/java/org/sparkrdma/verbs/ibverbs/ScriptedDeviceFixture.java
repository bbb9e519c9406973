// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/**
 * A test of the ibverbs engine on a device that fails as the test says. In every case nothing
 * hangs, the thread that waits sleeps when nothing is left to do, the device has no object left
 * afterwards, and the next exchange transfers the right bytes.
 */
@Tag("slow")
@ExtendWith(ScriptedLibrary.Available.class)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
abstract class ScriptedDeviceFixture {
  /** Maximum time of a test and the next exchange, on a busy machine too. */
  private static final double MAX_SECONDS = 10;

  /** The device of the class that runs. */
  static ScriptedLibrary library;

  private final long beginNs = System.nanoTime();
  final VerbsEngine engine = ScriptedEngine.over(library);

  private ScriptedExchange exchange;

  /** Whether the test's script makes something fail. */
  boolean faulty = true;

  @BeforeAll
  static void load() throws Exception {
    library = ScriptedLibrary.load();
  }

  @AfterEach
  void leaveNothingAndTransferAgain() throws Exception {
    if (exchange != null) {
      exchange.close();
    }
    double idlePercent = ScriptedExchange.takeIdlePercent();
    engine.close();
    IbverbsDevice.forgetRefusals();
    long hits = library.hits();
    library.reset();
    assertThat(hits > 0).as("the script took effect: hits=" + hits).isEqualTo(faulty);
    awaitNoObjects();
    try (VerbsEngine next = ScriptedEngine.over(library);
        ScriptedExchange again = new ScriptedExchange(next)) {
      again.run();
    }
    awaitNoObjects();
    assertIdle(idlePercent);
    assertIdle(ScriptedExchange.takeIdlePercent());
    double seconds = (System.nanoTime() - beginNs) / 1e9;
    // An emulated processor takes many times as long.
    assertThat(ScriptedLibrary.isGiven() ? 0 : seconds).as("seconds").isLessThan(MAX_SECONDS);
  }

  private static void assertIdle(double percent) {
    assertThat(percent)
        .as("CPU use when nothing was left to do, in percent")
        .isLessThan(ScriptedExchange.MAX_IDLE_PERCENT);
  }

  private static void awaitNoObjects() {
    // A route that is still being resolved keeps its identifier after close.
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (library.outstanding() != 0 && System.nanoTime() - deadlineNs < 0) {
      Thread.onSpinWait();
    }
    assertThat(library.outstanding()).as("objects left in the device").isZero();
  }

  /** The only device that can be used. */
  final DeviceInfo listed() throws Exception {
    List<DeviceInfo> devices = engine.devices();
    assertThat(devices).hasSize(1);
    return devices.get(0);
  }

  /** An exchange that has only opened the device; it is closed after the test. */
  final ScriptedExchange open() throws Exception {
    exchange = new ScriptedExchange(engine);
    return exchange;
  }

  /** An exchange with a connection; it is closed after the test. */
  final ScriptedExchange connect() throws Exception {
    open().connect();
    return exchange;
  }

  /** A whole exchange. */
  final void run() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.run();
    }
  }
}
