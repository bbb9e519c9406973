// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.VerbsException;

/** Names of queue pairs, and finding them by request numbers. */
class QueuePairTableTest {
  private static final int MAX_QUEUE_PAIRS = 1 << 16;

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
    return queuePair.name() & 0xffff;
  }

  private static List<Integer> takeAll(QueuePairTable from) {
    List<Integer> names = new ArrayList<>();
    for (int name = from.take(); name != -1; name = from.take()) {
      names.add(name);
    }
    return names;
  }

  @Test
  void shouldFindAQueuePairByEachOfItsRequestNumbers() throws VerbsException {
    FakeQueuePair first = create();
    FakeQueuePair second = create();
    for (int low : List.of(0, 1, Integer.MAX_VALUE, -1)) {
      assertThat(table.find(first.sendNumber(low))).isSameAs(first);
      assertThat(table.find(second.sendNumber(low))).isSameAs(second);
    }
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
  void shouldUseANameAgainOnlyAfterManyOthers() {
    Set<Integer> names = new HashSet<>();
    for (int i = 0; i < 100_000; i++) {
      int name = table.take();
      assertThat(names.add(name)).as("taken for the first time: name=%d", name).isTrue();
      table.release(name);
    }
  }

  @Test
  void shouldTakeAsManyNamesAsItHasIndexesAndMoreAfterARelease() {
    List<Integer> names = takeAll(table);
    assertThat(names).hasSize(MAX_QUEUE_PAIRS).doesNotHaveDuplicates();
    table.release(names.get(7));
    int again = table.take();
    assertThat(again & 0xffff).isEqualTo(names.get(7) & 0xffff);
    assertThat(again).isNotEqualTo(names.get(7));
    assertThat(table.take()).isEqualTo(-1);
  }

  @Test
  void shouldKeepQueuePairsWhenItGrows() throws VerbsException {
    FakeQueuePair before = create();
    takeAll(table);
    assertThat(table.find(before.sendNumber(1))).isSameAs(before);
    assertThat(table.find((long) before.name() << 32)).isSameAs(before);
  }
}
