// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.wire.Messages;

/** Quarantine of a peer, with time as a parameter. */
class PeerTest {
  private static final long FIRST = Duration.ofSeconds(2).toNanos();
  private static final long MAX = Duration.ofSeconds(10).toNanos();

  /** Close to the overflow of the clock, which may begin anywhere. */
  private long nowNs = Long.MAX_VALUE - FIRST;

  private final Peer peer =
      new Peer(
          new Endpoint(
              "e",
              "host",
              List.of(
                  new ListenerAddress(NetworkAddress.ofHost(InetAddress.getLoopbackAddress()), 1)),
              "soft",
              Messages.PROTOCOL,
              1,
              new byte[Endpoint.TOKEN_BYTES]));

  private long fault() {
    return peer.quarantineOnFault(nowNs, FIRST, MAX);
  }

  @Test
  void shouldDoubleTheQuarantineUpToItsMaximum() {
    fault();
    for (long lengthNs : new long[] {FIRST, 2 * FIRST, 4 * FIRST, MAX, MAX}) {
      assertThat(fault()).isEqualTo(lengthNs);
      assertThat(peer.isQuarantined(nowNs)).isTrue();
      assertThat(peer.isQuarantined(nowNs + lengthNs - 1)).isTrue();
      nowNs += lengthNs;
      assertThat(peer.isQuarantined(nowNs)).isFalse();
    }
  }

  @Test
  void shouldForgetFaultsAfterTheLongestQuarantine() {
    fault();
    fault();
    nowNs += FIRST + MAX - 1;
    assertThat(peer.isUnused(nowNs)).isFalse();
    assertThat(fault()).isEqualTo(2 * FIRST);
    nowNs += 2 * FIRST + MAX + 1;
    assertThat(peer.isUnused(nowNs)).isTrue();
    assertThat(fault()).isZero();
  }
}
