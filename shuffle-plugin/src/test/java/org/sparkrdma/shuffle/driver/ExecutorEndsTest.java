// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.LocalSpark;

@Timeout(60)
class ExecutorEndsTest {
  /** Executors that Spark knows; null when it does not answer. */
  private final AtomicReference<Set<String>> known = new AtomicReference<>(Set.of());

  /** Executors that a part knows. */
  private final AtomicReference<Set<String>> published = new AtomicReference<>(Set.of());

  private final ExecutorEnds ends =
      new ExecutorEnds(
          () -> {
            if (known.get() == null) {
              throw new IllegalStateException("Spark does not answer");
            }
            return known.get();
          },
          published::get);

  private final List<String> told = new ArrayList<>();

  /** Spark has dropped the event. */
  @Test
  void shouldTellOnceOfAnExecutorThatSparkKnowsAtNeitherOfTwoLooks() {
    ends.add((executorId, reason) -> told.add(executorId + " " + reason));
    known.set(Set.of("1", "2"));
    published.set(Set.of("2", "7"));
    ends.look();
    known.set(Set.of("1"));
    ends.look();
    assertThat(told).as("7 was never known, but a part knows it").containsExactly("7 null");
    known.set(null);
    ends.look();
    known.set(Set.of("1", "7"));
    published.set(Set.of("7"));
    ends.look();
    ends.look();
    assertThat(told).containsExactly("7 null", "2 null");
    known.set(Set.of("1"));
    ends.look();
    known.set(Set.of("1", "7"));
    ends.look();
    assertThat(told).as("7 has registered again").hasSize(2);
  }

  @Test
  void shouldTellEachPartAlsoAfterOneThatFails() throws TimeoutException {
    AtomicInteger looks = new AtomicInteger();
    ends.add(
        (executorId, reason) -> {
          throw new NoSuchMethodError("gone");
        });
    ends.add((executorId, reason) -> told.add(executorId + " " + reason));
    ends.addLook(looks::incrementAndGet);
    try (JavaSparkContext spark = new JavaSparkContext(LocalSpark.conf(1))) {
      ends.watch(spark.sc());
      ends.watch(spark.sc());
      spark.sc().listenerBus().post(new SparkListenerExecutorRemoved(0, "7", "killed"));
      spark.sc().listenerBus().waitUntilEmpty();
      assertThat(told).containsExactly("7 killed");
      assertThat(spark.sc().isStopped()).isFalse();
      known.set(null);
      ends.look();
      assertThat(looks).hasValue(1);
    } finally {
      ends.close();
    }
  }
}
