// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.VerbsContract;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

class DeviceLoopTest extends VerbsContract {
  @TempDir Path directory;

  private int failures;

  private static final String NAME = "soft-rdma-soft0";

  /**
   * For each measurement. Enough for the compiler, whose code allocates less than the interpreter.
   */
  private static final int READS = 5_000;

  /** On a busy machine the compiler needs the time of more READs, and events disturb a moment. */
  private static final int MEASUREMENTS = 20;

  /** Maximum part of its time for which an idle thread runs. */
  private static final double MAX_IDLE_PART = 0.05;

  private static final long IDLE_NS = 200_000_000;

  /** Length of the smallest object. */
  private static final int MIN_OBJECT_BYTES = 16;

  @Override
  protected EngineUnderTest engine() {
    return SoftUnderTest.ENGINE;
  }

  private static long[] deviceThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(NAME))
        .mapToLong(Thread::getId)
        .toArray();
  }

  /** The thread that posts and polls does the work. */
  @Test
  void shouldAllocateNothingForAReadOrASend() throws Exception {
    VerbsEngine engine = unwatched();
    client = open(engine);
    server = open(engine);
    Pair pair = connect();
    Node.Block source = server.block(4096, 5, Node.READABLE);
    Node.Block sink = client.block(4096, 0, Node.SINK);
    Node.Block inbox = server.block(4096, 0, Node.SINK);
    WorkRequest read = sink.readFrom(1, source.region());
    WorkRequest send = sink.send(2);
    WorkRequest receive = inbox.receive(3);
    CompletionHandler succeeds = completion -> failures += completion.succeeded() ? 0 : 1;
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    long lowest = Long.MAX_VALUE;
    for (int i = 0; i < MEASUREMENTS && lowest >= MIN_OBJECT_BYTES; i++) {
      long before = threads.getThreadAllocatedBytes(id);
      for (int round = 0; round < READS; round++) {
        pair.client().postSend(read);
        poll(client, succeeds);
        pair.server().postReceive(receive);
        pair.client().postSend(send);
        poll(client, succeeds);
        poll(server, succeeds);
      }
      lowest = Math.min(lowest, (threads.getThreadAllocatedBytes(id) - before) / READS);
    }
    assertThat(lowest).as("bytes for each READ and SEND").isLessThan(MIN_OBJECT_BYTES);
    assertThat(failures).isZero();
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
    connect();
    double lowest = 1;
    for (int i = 0; i < MEASUREMENTS && lowest >= MAX_IDLE_PART; i++) {
      long before = cpuNsOfDeviceThreads();
      long start = System.nanoTime();
      while (System.nanoTime() - start < IDLE_NS) {
        client.pollQueue();
        server.pollQueue();
      }
      double burntNs = cpuNsOfDeviceThreads() - before;
      lowest = Math.min(lowest, burntNs / (System.nanoTime() - start));
    }
    assertThat(lowest).as("part of its time").isLessThan(MAX_IDLE_PART);
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

  @Test
  void shouldUseNoProcessorTimeWhenIdle() throws Exception {
    connect();
    double lowest = 1;
    for (int i = 0; i < MEASUREMENTS && lowest >= MAX_IDLE_PART; i++) {
      long before = cpuNsOfDeviceThreads();
      long start = System.nanoTime();
      until(() -> System.nanoTime() - start > IDLE_NS);
      double burntNs = cpuNsOfDeviceThreads() - before;
      lowest = Math.min(lowest, burntNs / (System.nanoTime() - start));
    }
    assertThat(lowest).as("part of its time").isLessThan(MAX_IDLE_PART);
  }

  private SharedTable table() throws Exception {
    return SharedTable.create(directory.resolve("table"), new byte[SharedTable.SECRET_BYTES]);
  }

  private static long cpuNsOfDeviceThreads() {
    var threads = ManagementFactory.getThreadMXBean();
    return LongStream.of(deviceThreads()).map(threads::getThreadCpuTime).sum();
  }

  @Test
  @Timeout(value = 30, unit = TimeUnit.SECONDS)
  void shouldRunCommandsInOrderAndTimersInTime() throws Exception {
    var loop = new DeviceLoop("timer-test", table(), () -> {});
    loop.start();
    List<String> ran = new ArrayList<>();
    long now = System.nanoTime();
    var done = new java.util.concurrent.CountDownLatch(1);
    loop.call(
        () -> {
          loop.schedule(
              now + 20_000_000,
              () -> {
                ran.add("late");
                done.countDown();
              });
          loop.schedule(now + 10_000_000, () -> ran.add("early"));
          ran.add("first");
        });
    loop.call(() -> ran.add("second"));
    done.await();
    assertThat(System.nanoTime() - now).isGreaterThanOrEqualTo(20_000_000);
    loop.stop();
    assertThat(ran)
        .hasSize(4)
        .containsSubsequence("first", "second")
        .containsSubsequence("first", "early", "late");
  }
}
