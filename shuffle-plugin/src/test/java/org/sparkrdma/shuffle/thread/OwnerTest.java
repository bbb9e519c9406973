// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OwnerTest {
  private final Owner owner = new Owner();

  private static void onAnotherThread(Runnable work) {
    CompletableFuture.runAsync(work, command -> new Thread(command, "another").start()).join();
  }

  @Test
  void shouldThrowForAnotherThread() {
    owner.take();
    assertThat(owner.holds()).isTrue();
    assertThatThrownBy(() -> onAnotherThread(owner::holds))
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("owner=" + Thread.currentThread().getName())
        .hasMessageContaining("thread=another");
  }

  @Test
  void shouldAllowAnyThreadBeforeAndAfterOwnership() {
    onAnotherThread(owner::holds);
    owner.take();
    owner.release();
    onAnotherThread(owner::holds);
  }
}
