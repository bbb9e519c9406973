// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.engine.KernelDriver;
import org.sparkrdma.verbs.ibverbs.IbverbsQueuePair.WorkArray;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvSendWr;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;

class WorkArrayTest {
  /**
   * A doorbell that fails: the device has taken all requests and names none. Whether the earlier
   * post was refused or not, a driver may have stored something.
   */
  @Test
  void shouldNotTakeTheRefusedRequestOfAnEarlierPostForThatOfThisOne() {
    try (NativeArena arena = new NativeArena()) {
      WorkArray sends = WorkArray.ofSends(arena, 4, 1, KernelDriver.OTHER);
      sends.link(3);
      Native.putLong(sends.bad(), sends.first() + IbvSendWr.SIZE);
      assertThat(sends.badIndex(3)).isEqualTo(1);
      sends.link(3);
      assertThat(sends.badIndex(3)).isEqualTo(3);
      Native.putLong(sends.bad(), sends.first());
      sends.link(2);
      assertThat(sends.badIndex(2)).isEqualTo(2);
    }
  }
}
