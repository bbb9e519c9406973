// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** An Error on a thread of a disk ends the executor by Spark's handler, unless it is caught. */
class DiskWorkTest {
  private final HandWorkers workers = new HandWorkers(1);
  private final Queue<Runnable> commands = new ArrayDeque<>();
  private final AtomicInteger closed = new AtomicInteger();
  private final DiskWork work = new DiskWork(workers, commands::add, System::nanoTime, 1, 1);

  DiskWorkTest() {
    work.reportTo(new CountingListener());
  }

  /** What a job may meet without harm to the executor. */
  static List<Throwable> failures() {
    return List.of(
        new IllegalStateException("thrown by the test"),
        new NoSuchMethodError("thrown by the test"),
        new NoClassDefFoundError("thrown by the test"),
        new OutOfMemoryError("Cannot reserve 8192 bytes of direct buffer memory (allocated: 1)"),
        new OutOfMemoryError("Direct buffer memory"));
  }

  /** Throws any of them. */
  @SuppressWarnings("unchecked")
  static <T extends Throwable> void fail(Throwable failure) throws T {
    throw (T) failure;
  }

  @Test
  void shouldGiveMemoryBackWhoseCloseFails() {
    for (Throwable failure : failures()) {
      work.close(new FailingMemory(failure));
      assertThat(work.closingBytes()).isEqualTo(FailingMemory.BYTES);
      assertThatCode(this::run).as("%s", failure).doesNotThrowAnyException();
      assertThat(work.closingBytes()).isZero();
    }
    assertThat(closed).hasValue(2 * failures().size());
  }

  @Test
  void shouldGoOnAfterADeregistrationAndAMeasurementThatFail() {
    for (Throwable failure : failures()) {
      work.deregister(() -> DiskWorkTest.<RuntimeException>fail(failure));
      work.measure(0, () -> DiskWorkTest.<RuntimeException>fail(failure));
      assertThatCode(this::run).as("%s", failure).doesNotThrowAnyException();
    }
    assertThat(closed).hasValue(failures().size());
  }

  @Test
  void shouldCloseOnTheCallersThreadWhatFailsAfterTheThreadsHaveEnded() {
    work.closeAtOnce();
    for (Throwable failure : failures()) {
      work.close(new FailingMemory(failure));
      work.deregister(() -> DiskWorkTest.<RuntimeException>fail(failure));
    }
    assertThat(closed).hasValue(failures().size());
  }

  @Test
  void shouldLeaveALackOfHeapToTheHandlerOfTheThread() {
    Error fatal = new OutOfMemoryError("Java heap space");
    work.measure(0, () -> DiskWorkTest.<RuntimeException>fail(fatal));
    assertThatThrownBy(this::run).isSameAs(fatal);
  }

  private void run() {
    workers.runAll();
    for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
      command.run();
    }
  }

  private final class CountingListener implements DiskWork.Listener {
    @Override
    public void onLoaded(BlockLoad load) {}

    @Override
    public void onRegistered(FileWindow window, Exception failure) {}

    @Override
    public void onClosed() {
      closed.incrementAndGet();
    }
  }

  private final class FailingMemory implements DiskWork.Memory {
    static final long BYTES = 100;

    private final Throwable failure;

    FailingMemory(Throwable failure) {
      this.failure = failure;
    }

    @Override
    public long pinnedBytes() {
      return BYTES;
    }

    @Override
    public void close() {
      DiskWorkTest.<RuntimeException>fail(failure);
    }

    @Override
    public void onClosed() {
      closed.incrementAndGet();
    }
  }
}
