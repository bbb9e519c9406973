// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

class TimedRequestsTest {
  private static final String[] A = {"a"};
  private static final String[] B = {"b"};

  private long nowNs;

  @Test
  void shouldRepeatTheRequestsUntilTheTimeIsOver() {
    TimedRequests requests = new TimedRequests(List.of(A, B), 10, () -> nowNs);
    assertThat(requests.next()).isSameAs(A);
    assertThat(requests.next()).isSameAs(B);
    assertThat(requests.next()).isSameAs(A);
    nowNs = 10;
    assertThat(requests.hasNext()).isFalse();
    assertThatThrownBy(requests::next).isInstanceOf(NoSuchElementException.class);
  }

  @Test
  void shouldGiveAtLeastOneRequest() {
    TimedRequests requests = new TimedRequests(List.of(A, B), 10, () -> nowNs);
    nowNs = 11;
    assertThat(requests.next()).isSameAs(A);
    assertThat(requests.hasNext()).isFalse();
  }
}
