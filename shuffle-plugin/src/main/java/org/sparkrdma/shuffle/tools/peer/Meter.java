// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.IOException;
import java.util.Arrays;
import org.sparkrdma.verbs.VerbsException;

/** Measures one way of bringing a peer's bytes here. Confined to one thread. */
abstract class Meter implements AutoCloseable {
  /** Maximum number of requests in flight. */
  static final int MAX_AT_ONCE = 64;

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

  /** Begins a transfer; the first one has number 0. */
  abstract void begin(long number, int lengthBytes) throws VerbsException, IOException;

  /** Waits for the end of the transfer that began earliest. */
  abstract void finish(int lengthBytes) throws VerbsException, IOException;

  /** Compares the bytes that this number of transfers has left here with the peer's. */
  abstract void verify(long transfers, int lengthBytes) throws VerbsException, IOException;

  /** Times of transfers, each alone, in nanoseconds and ascending. */
  final long[] latenciesNs(int lengthBytes, int count) throws VerbsException, IOException {
    long[] times = new long[count];
    for (int i = 0; i < times.length; i++) {
      long start = System.nanoTime();
      begin(0, lengthBytes);
      finish(lengthBytes);
      times[i] = System.nanoTime() - start;
    }
    verify(1, lengthBytes);
    Arrays.sort(times);
    return times;
  }

  /**
   * Several transfers at the same time.
   *
   * @param lengthBytes of each, at most {@link SharedRegion#BYTES}
   * @param atOnce number of transfers in flight, at most {@link #MAX_AT_ONCE}
   * @param limitNs no transfer begins after this time; at least one does
   * @throws VerbsException when a READ fails or brings wrong bytes
   * @throws IOException when TCP fails or brings wrong bytes
   */
  final Speed speed(int lengthBytes, int atOnce, long limitNs) throws VerbsException, IOException {
    long start = System.nanoTime();
    long begun = 0;
    for (long done = 0; done == 0 || done < begun; done++) {
      while (begun - done < atOnce && (begun == 0 || System.nanoTime() - start < limitNs)) {
        begin(begun, lengthBytes);
        begun++;
      }
      finish(lengthBytes);
    }
    long timeNs = System.nanoTime() - start;
    verify(begun, lengthBytes);
    return new Speed(begun * lengthBytes, timeNs);
  }

  @Override
  public abstract void close();
}
