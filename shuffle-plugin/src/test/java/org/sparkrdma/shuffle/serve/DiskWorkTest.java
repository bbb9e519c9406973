// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** An Error on a thread of a disk ends the executor by Spark's handler, unless it is caught. */
class DiskWorkTest {
  private static final long BYTES = 100;

  private final HandWorkers workers = new HandWorkers(1);
  private final Queue<Runnable> commands = new ArrayDeque<>();
  private final AtomicInteger closed = new AtomicInteger();
  private final DiskWork work =
      new DiskWork(workers, commands::add, System::nanoTime, 1, 1, closed::incrementAndGet);

  /** What a job may meet without harm to the executor. */
  static List<Throwable> failures() {
    return List.of(
        new IllegalStateException("thrown by the test"),
        new NoSuchMethodError("thrown by the test"),
        new NoClassDefFoundError("thrown by the test"),
        new InternalError("a fault occurred in an unsafe memory access operation"),
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
      work.close(
          BYTES, () -> DiskWorkTest.<RuntimeException>fail(failure), closed::incrementAndGet);
      assertThat(work.closingBytes()).isEqualTo(BYTES);
      assertThatCode(this::run).as("%s", failure).doesNotThrowAnyException();
      assertThat(work.closingBytes()).isZero();
    }
    assertThat(closed).hasValue(2 * failures().size());
  }

  @Test
  void shouldGoOnAfterADeregistrationAndARegistrationThatFail() {
    List<Exception> failed = new ArrayList<>();
    for (Throwable failure : failures()) {
      work.deregister(() -> DiskWorkTest.<RuntimeException>fail(failure));
      work.register(0, () -> DiskWorkTest.<RuntimeException>fail(failure), failed::add);
      assertThatCode(this::run).as("%s", failure).doesNotThrowAnyException();
    }
    assertThat(closed).hasValue(failures().size());
    assertThat(failed).hasSize(failures().size()).doesNotContainNull();
    assertThat(work.registrations(0)).isZero();
  }

  @Test
  void shouldCloseOnTheCallersThreadWhatFailsAfterTheThreadsHaveEnded() {
    work.closeAtOnce();
    for (Throwable failure : failures()) {
      work.close(
          BYTES, () -> DiskWorkTest.<RuntimeException>fail(failure), closed::incrementAndGet);
      work.deregister(() -> DiskWorkTest.<RuntimeException>fail(failure));
    }
    assertThat(closed).hasValue(failures().size());
  }

  @Test
  void shouldLeaveALackOfHeapToTheHandlerOfTheThread() {
    Error fatal = new OutOfMemoryError("Java heap space");
    work.register(0, () -> DiskWorkTest.<RuntimeException>fail(fatal), failure -> {});
    assertThatThrownBy(this::run).isSameAs(fatal);
  }

  private void run() {
    workers.runAll();
    for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
      command.run();
    }
  }
}
