// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** A reader whose receive pool is smaller than what its tasks have in flight, in virtual time. */
@Timeout(60)
abstract class PoolFixture {
  static final int KIB = 1 << 10;
  static final int POOL = 64 * ScriptedReader.CHUNK_BYTES;
  static final int LONGEST_WAIT_MS = 1_010;

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

  /** Tasks that hold one block each and do not release it. */
  List<ScriptedTask> readOneByOne(int count) {
    List<ScriptedTask> unread = new ArrayList<>();
    for (int map = 0; map < count; map++) {
      unread.add(reader.task().fetch(map));
      reader.run(2);
      assertThat(unread.get(map).blocksHeld()).isEqualTo(1);
    }
    return unread;
  }
}
