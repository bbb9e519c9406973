// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.soft.wire.SelectionHandler;

/** A device thread whose spin would last for an hour. */
@Timeout(60)
class DeviceThreadSpinTest {
  private static final String NAME = "spin-test";

  private final AtomicBoolean runs = new AtomicBoolean();
  private final CountDownLatch received = new CountDownLatch(1);
  private DeviceThread thread;
  private Pipe pipe;

  @BeforeEach
  void start() throws IOException {
    pipe = Pipe.open();
    pipe.source().configureBlocking(false);
    thread = new DeviceThread(NAME, TimeUnit.HOURS.toNanos(1));
    thread.start();
  }

  @AfterEach
  void stop() throws IOException {
    thread.stop();
    pipe.source().close();
    pipe.sink().close();
  }

  private void register() {
    SelectionHandler handler =
        () -> {
          try {
            pipe.source().read(ByteBuffer.allocate(1));
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
          received.countDown();
        };
    try {
      pipe.source().register(thread.selector(), SelectionKey.OP_READ, handler);
    } catch (ClosedChannelException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A frame arrives. */
  private void send() throws IOException {
    pipe.sink().write(ByteBuffer.wrap(new byte[1]));
  }

  private static boolean isSpinning() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(entry -> entry.getKey().getName().equals(NAME))
        .flatMap(entry -> Stream.of(entry.getValue()))
        .anyMatch(frame -> frame.getMethodName().equals("spin"));
  }

  private void awaitSpin() {
    while (!isSpinning()) {
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldReceiveAFrameAfterWorkThatNothingFollows() throws Exception {
    thread.call(this::register);
    send();
    assertThat(received.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void shouldSpinWhileWorkIsExpected() {
    thread.call(thread::expectWork);
    awaitSpin();
    thread.call(() -> runs.set(true));
    assertThat(runs).isTrue();
  }

  @Test
  void shouldSpinOnceForWorkThatIsExpected() throws Exception {
    thread.call(thread::expectWork);
    awaitSpin();
    thread.call(this::register);
    send();
    assertThat(received.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void shouldExpectWorkAfterAllCompletionsButThoseOfASend() {
    assertThat(Opcode.values())
        .filteredOn(opcode -> !CompletionWriter.isFollowedByWork(opcode))
        .containsExactly(Opcode.SEND, Opcode.SEND_WITH_IMMEDIATE);
  }
}
