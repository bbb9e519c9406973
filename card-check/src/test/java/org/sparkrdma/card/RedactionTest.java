// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedactionTest {
  private final Redaction redaction = new Redaction(List.of("node17", "node17.example.org", "ab"));

  @ParameterizedTest
  @ValueSource(
      strings = {
        "10.99.1.1",
        "fd99:1:0:0:0:0:0:1",
        "fe80::1:2:3",
        "008e:90ff:fe5f:364c",
        "52:54:00:12:34:56",
        "node17",
        "node17.example.org"
      })
  void shouldRemoveNamesAndAddresses(String secret) {
    assertThat(redaction.clean("a " + secret + " b")).isEqualTo("a (removed) b");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "6.1.0-25-amd64",
        "5.14.0-427.13.1.el9_4.x86_64",
        "17.0.15+6-Debian-1deb12u1",
        "| card | mlx5_0, bnxt_en, firmware 229.0.154.0 | RoCE |",
        "0.1.0-SNAPSHOT, commit 203abdff12",
        "ab node170",
        "Sends.shouldSend() at SendContract.java:12"
      })
  void shouldKeepVersionsAndWords(String text) {
    assertThat(redaction.clean(text)).isEqualTo(text);
  }

  @Test
  void shouldRemoveTheNameInsideOfAKernelRelease() {
    assertThat(redaction.clean("6.1.0-node17")).isEqualTo("6.1.0-(removed)");
  }
}
