// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** Objects of the device that were closed, or that two threads close at the same time. */
@Tag("slow")
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class ScriptedDeviceClosingTest {
  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  private ScriptedLibrary library;
  private VerbsEngine engine;

  @BeforeEach
  void open() {
    library = DEVICE.library();
    engine = ScriptedEngine.over(library);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /** The device would read memory of the domain that is freed. */
  @Test
  void shouldNotHandAClosedProtectionDomainToTheDevice() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      Connection initiator = exchange.resolve(Duration.ofSeconds(1));
      exchange.expect(ConnectionEvent.Type.RESOLVED);
      ProtectionDomain closed = exchange.device.allocateProtectionDomain();
      closed.close();
      long before = library.calls("rdma_create_qp");

      assertThatThrownBy(() -> initiator.createQueuePair(closed, exchange.settings()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("protection domain is closed");

      assertThat(library.calls("rdma_create_qp")).isEqualTo(before);
    }
  }

  /** The device keeps an identifier that is destroyed before its queue pair. */
  @Test
  void shouldDestroyTheQueuePairBeforeItsIdentifierWhenTwoThreadsClose() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();
      Connection connection = exchange.responder();
      Thread first;
      Thread second;
      synchronized (connection) {
        first = startUntilItIsBlocked(connection.queuePair()::close);
        // The lock goes to the thread that began to wait last.
        second = startUntilItIsBlocked(connection::close);
      }
      first.join();
      second.join();
    }
  }

  private static Thread startUntilItIsBlocked(Runnable close) {
    var thread = new Thread(close, "closing");
    thread.start();
    while (thread.getState() != Thread.State.BLOCKED) {
      Thread.onSpinWait();
    }
    return thread;
  }
}
