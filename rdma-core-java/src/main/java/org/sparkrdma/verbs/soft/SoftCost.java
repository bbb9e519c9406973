// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * What a registration or a deregistration costs, so that a job behaves as with a card, which pins
 * each page: the thread is busy for that time. Nothing by default.
 *
 * @param callNs of each call, in nanoseconds
 * @param pageNs of each page of {@value #PAGE_BYTES} bytes, in nanoseconds
 */
record SoftCost(long callNs, long pageNs) {
  private static final int PAGE_BYTES = 4_096;

  /** Reads a call's and a page's cost, such as {@code 75us,270ns}. */
  static SoftCost parse(String text) {
    int comma = text.indexOf(',');
    if (comma < 0) {
      throw new IllegalArgumentException("not two durations with a comma between them");
    }
    return new SoftCost(
        SoftSettings.durationNs(text.substring(0, comma).trim()),
        SoftSettings.durationNs(text.substring(comma + 1).trim()));
  }

  boolean isNothing() {
    return callNs == 0 && pageNs == 0;
  }

  /** Is busy with a range. */
  void charge(long lengthBytes) {
    if (!isNothing()) {
      spinUntil(System.nanoTime() + ns(lengthBytes));
    }
  }

  /**
   * Is busy with a range of a file, whose pages are read first, because a card needs them.
   *
   * @throws IOException when the file cannot be read
   */
  void charge(FileChannel file, long lengthBytes) throws IOException {
    if (isNothing()) {
      return;
    }
    long endNs = System.nanoTime() + ns(lengthBytes);
    long start = file.position();
    ByteBuffer one = ByteBuffer.allocate(1);
    for (long at = 0; at < lengthBytes; at += PAGE_BYTES) {
      file.read(one.clear(), start + at);
    }
    spinUntil(endNs);
  }

  private long ns(long lengthBytes) {
    return callNs + (lengthBytes + PAGE_BYTES - 1) / PAGE_BYTES * pageNs;
  }

  private static void spinUntil(long endNs) {
    while (System.nanoTime() - endNs < 0) {
      Thread.onSpinWait();
    }
  }
}
