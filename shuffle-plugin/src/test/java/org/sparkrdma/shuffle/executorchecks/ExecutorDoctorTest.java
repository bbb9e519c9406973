// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.executorchecks;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The thread of the checks: its time limit, its failures and its end. */
@Timeout(30)
class ExecutorDoctorTest {
  private static final String NO_RESULT =
      "warning  doctor            The checks of this executor gave no result: ";

  private static final String TO_DO = " To do: run the command doctor on that host";
  private static final List<String> FOUND = List.of("note any Found. To do: do");

  private final LinkedBlockingQueue<List<String>> received = new LinkedBlockingQueue<>();
  private final CountDownLatch interrupted = new CountDownLatch(1);

  @Test
  void shouldReportALibraryThatCannotBeLinked() throws Exception {
    Callable<List<String>> failing =
        () -> {
          throw new UnsatisfiedLinkError("no symbol");
        };
    try (ExecutorDoctor doctor = doctor(failing, Duration.ofSeconds(20))) {
      doctor.start();
      assertThat(received.poll(20, TimeUnit.SECONDS))
          .containsExactly(NO_RESULT + "java.lang.UnsatisfiedLinkError: no symbol." + TO_DO);
    }
  }

  /** They ignore the interrupt. */
  @Test
  void shouldReportChecksThatHang() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    Callable<List<String>> hanging =
        () -> {
          boolean interrupted = true;
          while (interrupted) {
            try {
              over.await();
              interrupted = false;
            } catch (InterruptedException e) {
              // As a call of the system that does not return.
            }
          }
          return FOUND;
        };
    try (ExecutorDoctor doctor = doctor(hanging, Duration.ofSeconds(1))) {
      doctor.start();
      assertThat(received.poll(20, TimeUnit.SECONDS))
          .containsExactly(NO_RESULT + "they did not end within 1 s." + TO_DO);
      over.countDown();
    }
  }

  @Test
  void shouldEndChecksAtTheCloseAndSendNothing() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    ExecutorDoctor doctor =
        doctor(
            () -> {
              running.countDown();
              return hang();
            },
            Duration.ofSeconds(20));
    doctor.start();
    assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
    doctor.close();
    doctor.close();
    assertThat(interrupted.getCount()).isZero();
    assertThat(received).isEmpty();
  }

  private List<String> hang() throws InterruptedException {
    try {
      new CountDownLatch(1).await();
      return FOUND;
    } catch (InterruptedException e) {
      interrupted.countDown();
      throw e;
    }
  }

  private ExecutorDoctor doctor(Callable<List<String>> checks, Duration limit) {
    return new ExecutorDoctor(checks, received::add, limit);
  }
}
