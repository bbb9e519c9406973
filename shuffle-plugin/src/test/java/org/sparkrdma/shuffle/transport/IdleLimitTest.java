// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IdleLimitTest {
  private static final int CONNECTIONS = 1_000;
  private static final long TIMEOUT_NS = 60_000_000_000L;

  private double free = 1;
  private int looks;
  private final IdleLimit limit = new IdleLimit(TIMEOUT_NS, CONNECTIONS, this::free);

  private double free() {
    looks++;
    return free;
  }

  @Test
  void shouldLookUpTheFreeMemoryOnceInATurn() {
    for (int turn = 1; turn <= 3; turn++) {
      limit.beginTurn();
      for (int staying = 0; staying < CONNECTIONS; staying++) {
        assertThat(limit.limitNs(staying)).isGreaterThan(TIMEOUT_NS);
      }
      assertThat(looks).isEqualTo(turn);
    }
  }

  @Test
  void shouldLookUpNothingInATurnWithoutIdleConnections() {
    limit.beginTurn();
    limit.beginTurn();
    assertThat(looks).isZero();
  }

  @Test
  void shouldBeLongerTheMoreConnectionsAndMemoryAreFree() {
    assertThat(limit.limitNs(0)).as("all is free").isEqualTo(10 * TIMEOUT_NS);
    assertThat(limit.limitNs(CONNECTIONS)).as("no connection is free").isEqualTo(TIMEOUT_NS);
    free = 0;
    assertThat(limit.limitNs(0)).as("in the same turn").isEqualTo(10 * TIMEOUT_NS);
    limit.beginTurn();
    assertThat(limit.limitNs(0)).as("no memory is free").isEqualTo(TIMEOUT_NS);
    limit.beginTurn();
    free = 0.5;
    assertThat(limit.limitNs(CONNECTIONS / 4)).isEqualTo(55 * TIMEOUT_NS / 10);
  }
}
