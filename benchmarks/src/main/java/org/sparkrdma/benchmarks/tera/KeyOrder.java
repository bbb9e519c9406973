// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.util.Arrays;
import java.util.Comparator;

/** Keys in the order of their unsigned bytes; serialized to executors with the tasks. */
enum KeyOrder implements Comparator<byte[]> {
  UNSIGNED_BYTES;

  @Override
  public int compare(byte[] left, byte[] right) {
    return Arrays.compareUnsigned(left, right);
  }
}
