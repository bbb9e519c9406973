// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.VerbsException;

/** Names of queue pairs, and finding them by request numbers. */
class QueuePairTableTest {
  private FakeDevice.Objects objects;
  private QueuePairTable table;

  @BeforeEach
  void open() throws VerbsException {
    objects = new FakeDevice.Objects();
    table = objects.device.queuePairs();
  }

  private FakeQueuePair create() throws VerbsException {
    return objects.resolved().pair();
  }

  private static int index(FakeQueuePair queuePair) {
    return queuePair.tableKey() & 0xffff;
  }

  @Test
  void shouldNotFindAQueuePairThatWasDestroyed() throws VerbsException {
    FakeQueuePair destroyed = create();
    long old = destroyed.sendNumber(3);
    destroyed.close();
    assertThat(table.find(old)).isNull();
    FakeQueuePair later = create();
    for (int i = 0; i < 100 && index(later) != index(destroyed); i++) {
      later.close();
      later = create();
    }
    assertThat(index(later)).isEqualTo(index(destroyed));
    assertThat(table.find(later.sendNumber(3))).isSameAs(later);
    assertThat(table.find(old)).as("another one at the same index").isNull();
  }

  @Test
  void shouldUseANameAgainOnlyAfterManyOthers() throws VerbsException {
    FakeQueuePair queuePair = create();
    Set<Integer> names = new HashSet<>();
    for (int i = 0; i < 30_000; i++) {
      int name = table.add(queuePair);
      assertThat(names.add(name)).as("taken for the first time: name=%d", name).isTrue();
      table.remove(name);
    }
  }

  @Test
  void shouldKeepQueuePairsWhenItGrows() throws VerbsException {
    FakeQueuePair before = create();
    Set<Integer> indexes = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      indexes.add(index(create()));
    }

    assertThat(indexes).hasSize(100);
    assertThat(table.find(before.sendNumber(1))).isSameAs(before);
  }
}
