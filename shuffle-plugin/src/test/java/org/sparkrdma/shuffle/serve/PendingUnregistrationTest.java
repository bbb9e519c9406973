// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class PendingUnregistrationTest {
  private int calls;

  @Test
  void shouldCallBackOnceWhenTheLastOutputIsGone() {
    PendingUnregistration pending = new PendingUnregistration(() -> calls++);
    pending.await();
    pending.onOutputGone();
    assertThat(calls).isZero();
    pending.onOutputGone();
    pending.onOutputGone();
    assertThat(calls).isEqualTo(1);
  }

  @Test
  void shouldCallBackAgainAfterAnError() {
    PendingUnregistration pending =
        new PendingUnregistration(
            () -> {
              calls++;
              if (calls == 1) {
                throw new OutOfMemoryError("thrown by the test");
              }
            });
    assertThatThrownBy(pending::onOutputGone).isInstanceOf(OutOfMemoryError.class);
    pending.onOutputGone();
    pending.onOutputGone();
    assertThat(calls).isEqualTo(2);
  }
}
