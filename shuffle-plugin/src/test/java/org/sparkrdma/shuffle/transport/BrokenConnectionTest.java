// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Several causes of the end of one connection. */
class BrokenConnectionTest {
  private static final BrokenConnection LOST = BrokenConnection.connectionLost("disconnected");
  private static final BrokenConnection PEERS_FAULT =
      new BrokenConnection(FallbackReason.PROTOCOL_ERROR, "bad message", List.of());
  private static final BrokenConnection BLOCKS_FAULT =
      new BrokenConnection(
          FallbackReason.READ_ERROR,
          "remote access error",
          new ArrayList<>(Collections.singletonList(null)));

  @Test
  void shouldPreferTheCauseThatNamesABlock() {
    assertThat(LOST.isLessThan(BLOCKS_FAULT)).isTrue();
    assertThat(PEERS_FAULT.isLessThan(BLOCKS_FAULT)).isTrue();
    assertThat(BLOCKS_FAULT.isLessThan(LOST)).isFalse();
    assertThat(BLOCKS_FAULT.isLessThan(PEERS_FAULT)).isFalse();
  }

  @Test
  void shouldKeepAFaultOfThePeerWhenTheConnectionIsLostAfterIt() {
    assertThat(PEERS_FAULT.isLessThan(LOST)).isFalse();
    assertThat(LOST.isLessThan(PEERS_FAULT)).isTrue();
  }
}
