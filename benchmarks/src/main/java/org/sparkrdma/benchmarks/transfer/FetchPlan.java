// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.ArrayList;
import java.util.List;

/**
 * The requests for all blocks of a round, like those of Spark's fetcher: one reducer after the
 * other, each with its block of every map output. A request has a fifth of the bytes that may be in
 * flight.
 */
final class FetchPlan {
  /** Spark's default of {@code spark.reducer.maxSizeInFlight}. */
  static final long MAX_BYTES_IN_FLIGHT = 48L << 20;

  private static final int REQUESTS_IN_FLIGHT = 5;

  private FetchPlan() {}

  static List<String[]> of(Layout layout, int shuffleId) {
    long targetBytes = MAX_BYTES_IN_FLIGHT / REQUESTS_IN_FLIGHT;
    int perRequest = Math.toIntExact((targetBytes + layout.blockBytes() - 1) / layout.blockBytes());
    List<String[]> requests = new ArrayList<>();
    List<String> open = new ArrayList<>();
    for (int reducer = 0; reducer < layout.reducers(); reducer++) {
      for (int map = 0; map < layout.maps(); map++) {
        open.add(Layout.blockId(shuffleId, map, reducer));
        if (open.size() == perRequest) {
          requests.add(open.toArray(String[]::new));
          open.clear();
        }
      }
    }
    if (!open.isEmpty()) {
      requests.add(open.toArray(String[]::new));
    }
    return requests;
  }
}
