// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The budget against a model of its arithmetic. */
@Timeout(120)
class PinnedMemoryModelTest {
  private static final long PAGE = 4_096;
  private static final int MODEL_STEPS = 20_000;

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
}
