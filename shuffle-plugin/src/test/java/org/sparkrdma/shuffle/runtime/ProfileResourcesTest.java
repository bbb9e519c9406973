// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ProfileResourcesTest {
  private static final Map<String, Long> PROFILE = Map.of("memoryOverhead", 384L);

  private final Queue<Callable<Map<String, Long>>> answers = new ArrayDeque<>();
  private final ProfileResources resources = new ProfileResources(this::request);

  /** Throws Errors, as when the system refuses a thread; completes with exceptions. */
  private CompletableFuture<Map<String, Long>> request() {
    try {
      return CompletableFuture.completedFuture(answers.remove().call());
    } catch (Exception e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Test
  void shouldAskUntilTheDriverHasAnsweredOnceAndNeverFail() {
    answers.addAll(
        List.of(
            () -> {
              throw new OutOfMemoryError("unable to create native thread");
            },
            () -> {
              throw new IOException("no answer");
            },
            () -> PROFILE));

    assertThatCode(() -> assertThat(resources.get()).isEmpty())
        .as("after an Error")
        .doesNotThrowAnyException();
    assertThat(resources.get()).as("without an answer").isEmpty();
    assertThat(resources.get()).isEqualTo(PROFILE);
    assertThat(resources.get()).as("known").isEqualTo(PROFILE);
    assertThat(answers).isEmpty();
  }
}
