// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

class LocateCreditsTest {
  private static final int MAX = 4;

  private final LocateCredits credits = new LocateCredits(MAX);

  @Test
  void shouldAllowOneLocateUntilThePeerGrantsMore() {
    assertThat(credits.allows(0)).isTrue();
    assertThat(credits.allows(1)).isFalse();
    credits.grant(2);
    assertThat(credits.allows(2)).isTrue();
    assertThat(credits.allows(3)).isFalse();
  }

  @Test
  void shouldAskOnceForEachLocatedAndNeverBeyondTheMaximum() {
    assertThat(credits.shouldAsk(0)).isFalse();
    assertThat(credits.shouldAsk(1)).isTrue();
    credits.onAsked();
    assertThat(credits.shouldAsk(1)).isFalse();
    credits.onLocated();
    assertThat(credits.shouldAsk(1)).isTrue();
    credits.grant(MAX - 1);
    assertThat(credits.shouldAsk(MAX)).isFalse();
  }

  @Test
  void shouldRefuseMoreCreditsThanLocatesMayBeOpen() {
    credits.grant(1);
    assertThatThrownBy(() -> credits.grant(MAX - 1))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessage("bad RELEASED: credits=3 window=2");
    assertThat(credits.allows(2)).isFalse();
    credits.grant(MAX - 2);
    assertThat(credits.allows(MAX - 1)).isTrue();
  }

  @Test
  void shouldGiveBackOnlyThoseThatWereGranted() {
    assertThat(credits.hasGranted()).isFalse();
    credits.grant(1);
    assertThat(credits.hasGranted()).isTrue();
    credits.returnOne();
    assertThat(credits.hasGranted()).isFalse();
    assertThat(credits.allows(1)).isFalse();
  }
}
