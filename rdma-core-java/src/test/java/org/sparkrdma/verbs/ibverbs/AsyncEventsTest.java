// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The numbers of enum ibv_event_type, from 0 (CQ_ERR) to 19 (WQ_FATAL). */
class AsyncEventsTest {
  @Test
  void shouldReadAPortOnlyFromEventsOfPorts() {
    // PORT_ACTIVE, PORT_ERR, LID_CHANGE, PKEY_CHANGE, SM_CHANGE, CLIENT_REREGISTER, GID_CHANGE.
    assertThat(IntStream.rangeClosed(0, 19).filter(AsyncEvents::isOfPort))
        .containsExactly(9, 10, 11, 12, 13, 17, 18);
  }
}
