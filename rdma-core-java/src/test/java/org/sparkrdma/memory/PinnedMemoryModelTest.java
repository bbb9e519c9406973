// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;

/** The budget against two models: one of its arithmetic, one that counts pages as a kernel does. */
@Timeout(120)
class PinnedMemoryModelTest {
  private static final long PAGE = PageCountingDevice.PAGE;
  private static final Set<AccessFlag> ACCESS = Set.of(AccessFlag.LOCAL_WRITE);
  private static final int TASKS = 64;
  private static final int TASK_STEPS = 3_000;
  private static final int MODEL_STEPS = 20_000;

  private final PageCountingDevice device = new PageCountingDevice();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void shouldGrantExactlyAsTheModelAllows(long seed) {
    Random random = new Random(seed);
    long limitPages = 1L + random.nextInt(200);
    PinnedBudget budget = new PinnedBudget(limitPages * PAGE + random.nextInt(4_096), PAGE);
    Map<PinnedBudget.Grant, Long> model = new HashMap<>();
    List<PinnedBudget.Grant> order = new ArrayList<>();
    long pinned = 0;
    long highest = 0;
    for (int step = 0; step < MODEL_STEPS; step++) {
      if (order.isEmpty() || random.nextInt(5) < 3) {
        long lengthBytes = 1L + random.nextLong(limitPages * PAGE / 3 + 2 * PAGE);
        long pages = (lengthBytes + PAGE - 1) / PAGE;
        boolean room = pinned + pages <= limitPages;
        Optional<PinnedBudget.Grant> grant = budget.tryGrant(lengthBytes);
        assertThat(grant.isPresent()).as("step %s", step).isEqualTo(room);
        if (room) {
          model.put(grant.get(), pages);
          order.add(grant.get());
          pinned += pages;
          highest = Math.max(highest, pinned);
        }
      } else {
        PinnedBudget.Grant ended = order.remove(random.nextInt(order.size()));
        ended.close();
        pinned -= model.remove(ended);
      }
      assertThat(budget.pinnedBytes()).isEqualTo(pinned * PAGE);
      assertThat(budget.highestBytes()).isEqualTo(highest * PAGE);
    }
    order.forEach(PinnedBudget.Grant::close);
    budget.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13})
  void shouldNeverExceedThePageLimitUnderManyTasks(long seed) throws InterruptedException {
    long limitPages = 300;
    PinnedBudget budget = new PinnedBudget(limitPages * PAGE, PAGE);
    // Chunks smaller than a page, chunks of whole pages, and slabs that end within a page.
    List<RegisteredPool> pools =
        List.of(pool(budget, 700, 11, 120), pool(budget, 8_192, 4, 200), pool(budget, 512, 1, 40));
    CountDownLatch begin = new CountDownLatch(1);
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    List<Thread> tasks = new ArrayList<>();
    for (int i = 0; i < TASKS; i++) {
      Task task = new Task(new Random(seed * 1_000 + i), budget, pools, begin);
      Thread thread = new Thread(task, "task-" + i);
      thread.setUncaughtExceptionHandler((who, failure) -> failures.add(failure));
      tasks.add(thread);
      thread.start();
    }
    begin.countDown();
    for (Thread task : tasks) {
      task.join();
    }
    assertThat(failures).isEmpty();
    // The tasks did compete for memory.
    assertThat(device.maxPages()).isGreaterThan(limitPages * 9 / 10);
    assertThat(device.maxPages()).isLessThanOrEqualTo(limitPages);
    assertThat(budget.highestBytes()).isBetween(device.maxPages() * PAGE, budget.limitBytes());
    assertThat(pools).allMatch(pool -> pool.chunksOut() == 0);
    assertThat(budget.pinnedBytes()).isEqualTo(device.pages() * PAGE);
    pools.forEach(RegisteredPool::close);
    assertThat(device.pages()).isZero();
    budget.close();
  }

  private RegisteredPool pool(PinnedBudget budget, int chunkBytes, int perSlab, long pages) {
    return new RegisteredPool(device, device, budget, ACCESS, chunkBytes, perSlab, pages * PAGE);
  }

  /** Registers windows and leases chunks of random sizes, as the budget allows. */
  private final class Task implements Runnable {
    private static final int MAX_HELD = 8;
    private final Random random;
    private final PinnedBudget budget;
    private final List<RegisteredPool> pools;
    private final CountDownLatch begin;
    private final ArrayDeque<Runnable> held = new ArrayDeque<>();

    Task(Random random, PinnedBudget budget, List<RegisteredPool> pools, CountDownLatch begin) {
      this.random = random;
      this.budget = budget;
      this.pools = pools;
      this.begin = begin;
    }

    @Override
    public void run() {
      try {
        begin.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
      for (int i = 0; i < TASK_STEPS; i++) {
        step();
      }
      held.forEach(Runnable::run);
    }

    private void step() {
      int what = random.nextInt(10);
      if (held.size() == MAX_HELD || what < 4) {
        Runnable release = random.nextBoolean() ? held.pollFirst() : held.pollLast();
        if (release != null) {
          release.run();
        }
      } else if (what < 6) {
        registerWindow();
      } else if (what < 9) {
        var chunk = pools.get(random.nextInt(pools.size())).tryTake();
        chunk.ifPresent(taken -> held.add(taken::release));
      } else {
        RegisteredPool pool = pools.get(random.nextInt(pools.size()));
        if (random.nextBoolean()) {
          pool.trim(Integer.MAX_VALUE);
        } else {
          pool.trimUnused();
        }
        LockSupport.parkNanos(1);
      }
    }

    private void registerWindow() {
      long lengthBytes = 1 + random.nextLong(20 * PAGE);
      var grant = budget.tryGrant(lengthBytes);
      if (grant.isPresent()) {
        // Every window begins on a page.
        MemoryRegion region = device.pin(random.nextLong(1_000) * PAGE, lengthBytes, ACCESS);
        held.add(
            () -> {
              region.close();
              grant.get().close();
            });
      }
    }
  }
}
