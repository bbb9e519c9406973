// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.VerbsContract;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

class DeviceLoopTest extends VerbsContract {
  private static final String NAME = "soft-rdma-soft0";

  /** On a busy machine the compiler needs more time, and events disturb a moment. */
  private static final int MEASUREMENTS = 20;

  /** Maximum part of its time for which an idle thread runs. */
  private static final double MAX_IDLE_PART = 0.05;

  private static final long IDLE_NS = 200_000_000;

  private int failures;

  @Override
  protected EngineUnderTest engine() {
    return SoftUnderTest.ENGINE;
  }

  /** Calls of a watched engine allocate. */
  private static VerbsEngine unwatched() throws EngineUnavailableException {
    return new SoftProvider().load(EngineSettings.of(SoftUnderTest.ENGINE.settings()));
  }

  private static void poll(Node node, CompletionHandler handler) {
    while (node.queue.poll(1, handler) == 0) {
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldUseNoProcessorTimeOfItsThreadsWhilePolled() throws Exception {
    assertIdle(
        start -> {
          while (System.nanoTime() - start < IDLE_NS) {
            client.pollQueue();
            server.pollQueue();
          }
        });
  }

  @Test
  void shouldUseNoProcessorTimeWhenIdle() throws Exception {
    assertIdle(start -> until(() -> System.nanoTime() - start > IDLE_NS));
  }

  /** The threads of two connected devices run only for a part of the time of this action. */
  private void assertIdle(LongConsumer action) throws Exception {
    connect();
    double lowest = 1;
    for (int i = 0; i < MEASUREMENTS && lowest >= MAX_IDLE_PART; i++) {
      long before = cpuNsOfDeviceThreads();
      long start = System.nanoTime();
      action.accept(start);
      double burntNs = cpuNsOfDeviceThreads() - before;
      lowest = Math.min(lowest, burntNs / (System.nanoTime() - start));
    }
    assertThat(lowest).as("part of its time").isLessThan(MAX_IDLE_PART);
  }

  private static long cpuNsOfDeviceThreads() {
    var threads = ManagementFactory.getThreadMXBean();
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(NAME))
        .mapToLong(thread -> threads.getThreadCpuTime(thread.getId()))
        .sum();
  }

  @Test
  void shouldReadAndSendOnAnInterruptedThread() throws Exception {
    Pair pair = connect();
    Node.Block source = server.block(200_000, 5, Node.READABLE);
    Node.Block sink = client.block(200_000, 0, Node.SINK);
    Node.Block inbox = server.block(200_000, 0, Node.SINK);
    CompletionHandler succeeds = completion -> failures += completion.succeeded() ? 0 : 1;
    Thread.currentThread().interrupt();
    pair.client().postSend(sink.readFrom(1, source.region()));
    poll(client, succeeds);
    pair.server().postReceive(inbox.receive(2));
    pair.client().postSend(sink.send(3));
    poll(client, succeeds);
    poll(server, succeeds);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(failures).isZero();
    assertAll(inbox.bytes(), 5);
  }

  @Test
  void shouldReportAFailureOfItsWork() throws Exception {
    client = open(unwatched());
    DeviceLoop loop = ((SoftDevice) client.device).loop;
    Runnable failing =
        () -> {
          throw new IllegalStateException("by the test");
        };
    loop.call(() -> loop.schedule(System.nanoTime(), failing));
    assertThat(event(client, ConnectionEvent.Type.DEVICE_DOWN).reason()).contains("soft device");
  }

  /** The helper makes the progress of a device that nobody polls. */
  @Test
  void shouldReportAFailureOfItsHelper() throws Exception {
    client = open(unwatched());
    DeviceLoop loop = ((SoftDevice) client.device).loop;
    Pipe pipe = Pipe.open();
    try (var source = pipe.source();
        var sink = pipe.sink()) {
      source.configureBlocking(false);
      var failed = new AtomicReference<Thread>();
      Runnable handler =
          () -> {
            if (isAfterASleep() && failed.compareAndSet(null, Thread.currentThread())) {
              throw new IllegalStateException("by the test");
            }
          };
      loop.call(
          () ->
              assertThatCode(() -> source.register(loop.selector, SelectionKey.OP_READ, handler))
                  .doesNotThrowAnyException());
      sink.write(ByteBuffer.allocate(1));
      while (failed.get() == null) {
        Thread.onSpinWait();
      }
      failed.get().join();
    }
    assertThat(event(client, ConnectionEvent.Type.DEVICE_DOWN).reason()).contains("soft device");
  }

  /** Whether the helper handles what has ended its sleep, and not a turn of {@code round}. */
  private static boolean isAfterASleep() {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("wakeFromRest")));
  }
}
