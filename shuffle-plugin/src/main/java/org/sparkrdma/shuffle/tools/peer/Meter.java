// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.IOException;
import org.sparkrdma.verbs.VerbsException;

/** Measures one way of bringing a peer's bytes here. Confined to one thread. */
interface Meter extends AutoCloseable {
  /** Maximum number of requests in flight. */
  int MAX_AT_ONCE = 64;

  /**
   * Bytes that were transferred in some time.
   *
   * @param bytes all of them
   * @param timeNs from the first request to the last byte
   */
  record Speed(long bytes, long timeNs) {
    double bytesPerSecond() {
      return bytes * 1e9 / timeNs;
    }
  }

  /** Times of transfers, each alone, in nanoseconds and ascending. */
  long[] latenciesNs(int lengthBytes, int count) throws VerbsException, IOException;

  /**
   * Several transfers at the same time.
   *
   * @param lengthBytes of each, at most {@link SharedRegion#BYTES}
   * @param atOnce number of transfers in flight, at most {@link #MAX_AT_ONCE}
   * @param limitNs no transfer begins after this time; at least one does
   * @throws VerbsException when a READ fails or brings wrong bytes
   * @throws IOException when TCP fails or brings wrong bytes
   */
  Speed speed(int lengthBytes, int atOnce, long limitNs) throws VerbsException, IOException;

  @Override
  void close();
}
