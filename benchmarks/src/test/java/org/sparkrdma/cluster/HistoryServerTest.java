// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HistoryServerTest {
  private static final String LINE =
      "INFO HistoryServer: Bound HistoryServer to 0.0.0.0, and started at http://host.example:18080";

  @Test
  void shouldReadThePortOfAWholeLineOnly() {
    assertThat(HistoryServer.port("")).isEmpty();
    assertThat(HistoryServer.port(LINE.substring(0, LINE.length() - 2))).as("a part").isEmpty();
    assertThat(HistoryServer.port(LINE)).as("no end of the line").isEmpty();
    assertThat(HistoryServer.port("INFO before\n" + LINE + "\nINFO after")).hasValue(18_080);
  }
}
