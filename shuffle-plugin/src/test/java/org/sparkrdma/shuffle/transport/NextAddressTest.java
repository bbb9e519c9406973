// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/** A peer with two addresses, of which the preferred one does not work; virtual time. */
class NextAddressTest extends VirtualFixture {
  private static final int BLOCK_BYTES = 64 << 10;

  private VirtualExecutor reader;
  private VirtualExecutor server;
  private VirtualExecutor former;
  private Endpoint endpoint;

  @BeforeEach
  void start() throws Exception {
    reader = fabric.start(BLOCK_BYTES);
    server = fabric.start(BLOCK_BYTES);
    former = fabric.start(BLOCK_BYTES);
    Endpoint real = server.endpoint();
    List<ListenerAddress> both = new ArrayList<>(former.endpoint().addresses());
    both.addAll(real.addresses());
    endpoint = Endpoints.with(real, both, real.token());
  }

  private VirtualFetch fetchFor(long milliseconds) {
    VirtualFetch fetch = new VirtualFetch(reader, endpoint);
    fabric.run(milliseconds * MS);
    return fetch;
  }

  private void assertServerIsUsed() {
    assertThat(server.connections()).isEqualTo(1);
    assertThat(former.connections()).isZero();
    assertThat(reader.connections()).isEqualTo(1);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  /** The host rejects it, because nothing listens there, or it fails at once. */
  @ParameterizedTest
  @EnumSource(
      value = ConnectionEvent.Type.class,
      names = {"REJECTED", "UNREACHABLE"})
  void shouldUseTheNextAddressAfterARejection(ConnectionEvent.Type answer) {
    fabric.reject(former.address, answer);
    assertThat(fetchFor(100).failures()).containsOnlyKeys(FallbackReason.CONNECT_FAILED);
    assertThat(fetchFor(100).isRead()).isTrue();
    assertServerIsUsed();
  }

  @Test
  void shouldUseTheNextAddressAfterAHostWithoutAnswer() {
    fabric.delayEvents((to, type) -> to == former ? VirtualFabric.LOST : 0);
    assertThat(fetchFor(5_200).failures()).containsOnlyKeys(FallbackReason.CONNECT_FAILED);
    fabric.run(10_000 * MS);
    assertThat(fetchFor(100).isRead()).isTrue();
    assertServerIsUsed();
  }

  /** The address belongs to another executor now, which proves nothing. */
  @Test
  void shouldUseTheNextAddressAfterARefusal() {
    assertThat(fetchFor(100).failures()).containsOnlyKeys(FallbackReason.REFUSED);
    assertThat(fetchFor(100).isRead()).isTrue();
    fabric.run(5_200 * MS);
    assertServerIsUsed();
  }

  @Test
  void shouldTryTheFirstAddressAgainAfterTheLastOne() {
    fabric.reject(former.address, ConnectionEvent.Type.UNREACHABLE);
    fabric.reject(server.address, ConnectionEvent.Type.UNREACHABLE);
    fetchFor(100);
    fetchFor(100);
    assertThat(reader.requests).isEqualTo(2);
    fabric.rejectNothing();
    fetchFor(100);
    assertThat(former.count(Counter.CONNECTIONS_REFUSED)).isEqualTo(1);
  }
}
