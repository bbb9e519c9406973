// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Counter;

/** A reader whose receive pool is smaller than what its tasks have in flight, in virtual time. */
@Timeout(60)
abstract class PoolFixture {
  static final int KIB = 1 << 10;
  static final int POOL = 64 * ScriptedReader.CHUNK_BYTES;
  static final long NO_COPIES = 0;
  static final long COPIES = 64L << 20;
  static final int LONGEST_WAIT_MS = 40;

  ScriptedReader reader;

  @AfterEach
  void close() {
    reader.close();
    assertThat(reader.sinks().chunksOut()).as("chunks still held").isZero();
  }

  static int[] blocks(int count, int lengthBytes) {
    int[] lengths = new int[count];
    Arrays.fill(lengths, lengthBytes);
    return lengths;
  }

  static int[] maps(int from, int to) {
    return IntStream.range(from, to).toArray();
  }

  /** Number of blocks that have got memory after a wait. */
  long waits() {
    return reader.counters().value(Counter.MEMORY_WAITS_5_MS)
        + reader.counters().value(Counter.MEMORY_WAITS_20_MS);
  }

  /** One block for each of many tasks, all in one answer. */
  List<ScriptedTask> fetchTogether(int from, int to) {
    List<ScriptedTask> tasks = new ArrayList<>();
    for (int map = from; map < to; map++) {
      tasks.add(reader.task(map).fetch(map));
    }
    passWithoutReads(2);
    return tasks;
  }

  /** Tasks that hold one block each and do not release it. */
  List<ScriptedTask> readOneByOne(int count) {
    List<ScriptedTask> unread = new ArrayList<>();
    for (int map = 0; map < count; map++) {
      unread.add(reader.task(100 + map).fetch(map));
      reader.run(2);
      assertThat(unread.get(map).blocksHeld()).isEqualTo(1);
    }
    return unread;
  }

  /** One block for each of many tasks; the blocks of a group come in one answer. */
  List<ScriptedTask> fetchInGroups(int... groups) {
    List<ScriptedTask> tasks = new ArrayList<>();
    for (int group : groups) {
      for (int i = 0; i < group; i++) {
        int map = reader.peer().blocks() - IntStream.of(groups).sum() + tasks.size();
        tasks.add(reader.task(tasks.size()).fetch(map));
      }
      passWithoutReads(2);
    }
    return tasks;
  }

  void passWithoutReads(int milliseconds) {
    for (int i = 0; i < milliseconds; i++) {
      reader.stepWithoutReads();
    }
  }
}
