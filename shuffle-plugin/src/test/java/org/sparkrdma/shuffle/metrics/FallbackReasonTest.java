// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class FallbackReasonTest {
  /** A lack of receive memory, or of room for a connection, is no answer of the peer. */
  @Test
  void shouldFollowAnAnswerOnlyWhereThePeerSentOne() {
    assertThat(Arrays.stream(FallbackReason.values()).filter(FallbackReason::followsAnAnswer))
        .containsExactlyInAnyOrder(
            FallbackReason.PEER_BUSY,
            FallbackReason.PEER_OVERLOADED,
            FallbackReason.PEER_UNKNOWN_BLOCK,
            FallbackReason.CORRUPT,
            FallbackReason.CHECKSUM_UNUSABLE,
            FallbackReason.DISK);
  }
}
