// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReadPoolTest {
  /** Number of blocks of 4 KiB that a task has in flight by default. */
  private static final int READS = (48 << 20) / (4 << 10);

  private final ReadPool pool = new ReadPool();
  private final ReadBatch batch = new ReadBatch();
  private final ReadOperation[] reads = new ReadOperation[READS];

  @Test
  void shouldAllocateNothingForTheReadsOfATaskWithSmallBlocks() {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    readAll();
    readAll();
    long before = threads.getThreadAllocatedBytes(thread);
    long cost = threads.getThreadAllocatedBytes(thread) - before;
    before = threads.getThreadAllocatedBytes(thread);
    readAll();
    assertThat(threads.getThreadAllocatedBytes(thread) - before).isEqualTo(cost);
  }

  private void readAll() {
    for (int i = 0; i < READS; i++) {
      reads[i] = pool.read(batch, null, 0, 0, null, 0, 4 << 10);
    }
    for (ReadOperation read : reads) {
      pool.recycle(read);
    }
  }
}
