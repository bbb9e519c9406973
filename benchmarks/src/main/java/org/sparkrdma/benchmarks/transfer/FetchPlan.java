/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.benchmarks.transfer;

import java.util.ArrayList;
import java.util.List;

/**
 * The requests for all blocks of a round, as Spark's fetcher would make them: one reducer after the
 * other, each asking for its block of every map output; a request is complete when it has reached a
 * fifth of what may be in flight.
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
