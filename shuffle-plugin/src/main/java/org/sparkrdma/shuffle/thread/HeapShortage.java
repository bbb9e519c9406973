// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

import java.util.List;
import java.util.Locale;

/** Which lack of memory is fatal: one of the heap, which Spark's handler ends the executor for. */
public final class HeapShortage {
  /** What the JVM and the engines say of memory beside the heap, which others may give back. */
  private static final List<String> BESIDE_HEAP =
      List.of("native thread", "direct buffer", "native memory");

  private HeapShortage() {}

  /** Whether it is of the heap. */
  public static boolean isFatal(OutOfMemoryError e) {
    String message = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
    return BESIDE_HEAP.stream().noneMatch(message::contains);
  }
}
