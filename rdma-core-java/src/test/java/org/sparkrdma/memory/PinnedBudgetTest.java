// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class PinnedBudgetTest {
  private static final long PAGE = 4096;
  private static final long LIMIT = 50 * PAGE;
  private static final int THREADS = 6;
  private static final int ROUNDS = 10_000;
  private final PinnedBudget budget = new PinnedBudget(LIMIT, PAGE);

  @Test
  void shouldKeepAReserveWithinTheLimitAndGrantItAllTheSame() {
    assertThat(budget.reservedBytes()).isZero();
    budget.reserve(2 * PAGE);
    assertThat(budget.reservedBytes()).isEqualTo(2 * PAGE);
    budget.tryGrant(LIMIT).orElseThrow().close();
    assertThatThrownBy(() -> budget.reserve(LIMIT + 1)).hasMessageContaining("bad reserve");
    assertThatThrownBy(() -> budget.reserve(-1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldReleaseAGrantOnceWhenItIsClosedTwice() {
    var kept = budget.tryGrant(PAGE).orElseThrow();
    var grant = budget.tryGrant(PAGE).orElseThrow();
    grant.close();
    grant.close();
    assertThat(grant.heldBytes()).isZero();
    assertThat(budget.pinnedBytes()).isEqualTo(PAGE);
    kept.close();
  }

  @Test
  void shouldNotOverflowOnHugeLengths() {
    assertThat(budget.tryGrant(Long.MAX_VALUE)).isEmpty();
    PinnedBudget boundless = new PinnedBudget(Long.MAX_VALUE, PAGE);
    assertThat(boundless.tryGrant(Long.MAX_VALUE)).isEmpty();
    assertThat(boundless.pinnedBytes()).isZero();
  }

  @Test
  void shouldNameTheLeakWhenClosedWithOutstandingGrants() {
    var grant = budget.tryGrant(2 * PAGE).orElseThrow();
    assertThatThrownBy(budget::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("leakedBytes=8192");
    grant.close();
    budget.close();
  }

  @Test
  void shouldNeverExceedTheLimitWhenManyThreadsCompete() throws InterruptedException {
    AtomicLong max = new AtomicLong();
    CountDownLatch begin = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int seed = 0; seed < THREADS; seed++) {
      Random random = new Random(seed);
      threads.add(new Thread(() -> compete(random, begin, max)));
    }
    threads.forEach(Thread::start);
    begin.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(max.get()).isPositive().isLessThanOrEqualTo(LIMIT);
    budget.close();
  }

  private void compete(Random random, CountDownLatch begin, AtomicLong max) {
    try {
      begin.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    for (int i = 0; i < ROUNDS; i++) {
      var grant = budget.tryGrant(1 + random.nextInt((int) LIMIT));
      max.accumulateAndGet(budget.pinnedBytes(), Math::max);
      grant.ifPresent(PinnedBudget.Grant::close);
    }
  }
}
