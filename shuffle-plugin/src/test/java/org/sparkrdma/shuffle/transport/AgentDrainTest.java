// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands that are submitted after the agent's thread ended. */
@Timeout(30)
class AgentDrainTest {
  @TempDir private Path directory;
  private final CountDownLatch running = new CountDownLatch(1);
  private final AtomicBoolean isRunning = new AtomicBoolean();
  private final AtomicBoolean overlapped = new AtomicBoolean();
  private volatile Thread second;

  /** Runs until the second thread waits for the first or has ended. */
  private void firstCommand() {
    isRunning.set(true);
    running.countDown();
    while (second == null
        || (second.getState() != Thread.State.BLOCKED
            && second.getState() != Thread.State.TERMINATED)) {
      Thread.onSpinWait();
    }
    isRunning.set(false);
  }

  private void drainOnTwoThreads(TransportAgent agent, Runnable ofSecond)
      throws InterruptedException {
    agent.execute(this::firstCommand);
    Thread first = new Thread(agent::drain);
    first.start();
    running.await();
    Thread other = new Thread(ofSecond);
    other.start();
    second = other;
    first.join();
    other.join();
  }

  private TransportAgent endedAgent() throws Exception {
    TestExecutor executor = new TestExecutor(directory, new TestExecutor.Options(1));
    executor.close();
    return executor.transport().agent;
  }

  @Test
  void shouldRunCommandsOnOneThreadAtATime() throws Exception {
    TransportAgent agent = endedAgent();
    drainOnTwoThreads(
        agent,
        () -> {
          agent.execute(() -> overlapped.set(isRunning.get()));
          agent.drain();
        });
    assertThat(overlapped).isFalse();
  }

  @Test
  void shouldFreeMemoryWhenNoThreadRunsCommands() throws Exception {
    TransportAgent agent = endedAgent();
    drainOnTwoThreads(agent, () -> agent.drainThen(() -> overlapped.set(isRunning.get())));
    assertThat(overlapped).isFalse();
  }
}
