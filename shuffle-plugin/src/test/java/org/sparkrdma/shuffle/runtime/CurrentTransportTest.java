// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.FallbackReason;

class CurrentTransportTest {
  @Test
  void shouldFetchWithTheTransportThatWasStartedLast() {
    CurrentTransport current = new CurrentTransport();
    List<String> fetched = new ArrayList<>();
    current.set(request -> fetched.add("first"));
    current.fetch(null);
    current.set(request -> fetched.add("second"));
    current.fetch(null);
    assertThat(fetched).containsExactly("first", "second");
  }

  @Test
  void shouldSendEveryBlockToTcpBeforeTheFirstTransportIsStarted() {
    List<String> failed = new ArrayList<>();
    FetchHandler.fetch(
        new CurrentTransport(),
        null,
        List.of(new BlockRange(1, 2, 3, 4), new BlockRange(1, 2, 4, 5)),
        new FetchHandler() {
          @Override
          public void onFetched(int index, ManagedBuffer buffer) {
            throw new AssertionError("fetched block " + index);
          }

          @Override
          public void onFailed(int index, FallbackReason reason, String detail) {
            failed.add(index + " " + reason);
          }
        });
    assertThat(failed).containsExactly("0 UNAVAILABLE", "1 UNAVAILABLE");
  }
}
