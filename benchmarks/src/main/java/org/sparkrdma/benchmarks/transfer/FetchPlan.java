// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

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

  /** One request for each reducer, with its block of every map output. */
  static List<String[]> ofReducers(Layout layout, int shuffleId) {
    return IntStream.range(0, layout.reducers())
        .mapToObj(
            reducer ->
                IntStream.range(0, layout.maps())
                    .mapToObj(map -> Layout.blockId(shuffleId, map, reducer))
                    .toArray(String[]::new))
        .toList();
  }

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
