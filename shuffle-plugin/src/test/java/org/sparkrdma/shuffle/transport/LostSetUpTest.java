// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/**
 * Two executors that read from each other while messages and events of the set-up are lost or late,
 * in virtual time. The end of each test checks that nothing stays open.
 */
@Tag("slow")
class LostSetUpTest extends VirtualFixture {
  private static final int BLOCK_BYTES = 1 << 20;

  /** The kernel repeats a lost request after this time. */
  private static final long REPEAT_NS = 6_100 * MS;

  private static final int TRIALS = 60;

  /** What a reader waits for in vain at most, with the time between checks. */
  private static final long MAX_ANSWER_NS = 1_700 * MS;

  /** After it, what a peer has lost by waits in vain is earned again. */
  private static final long EARNED_NS = 30_000 * MS;

  private VirtualExecutor reader;
  private VirtualExecutor server;

  @BeforeEach
  void start() throws Exception {
    renewFabric();
    reader = fabric.start(BLOCK_BYTES, "request.timeout", "5s");
    server = fabric.start(BLOCK_BYTES, "request.timeout", "5s");
  }

  private VirtualFetch fetch() {
    return new VirtualFetch(reader, server.endpoint());
  }

  private void loseNothing() {
    fabric.delayEvents((to, type) -> 0);
    fabric.delayMessages((from, type) -> 0);
  }

  /** The peer is well again: it is read from, over one connection. */
  private void assertReads(String what) {
    VirtualFetch next = fetch();
    fabric.run(100 * MS);
    assertThat(next.failures()).as(what).isEmpty();
    assertThat(next.isRead()).as(what).isTrue();
    assertThat(reader.connections()).as(what).isEqualTo(1);
    assertThat(server.connections()).as(what).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        Messages.REQUEST,
        Messages.REPLY,
        Messages.CONFIRM,
        Messages.LOCATE,
        Messages.LOCATED
      })
  void shouldUseTcpInTimeAndReconnectAfterALostMessage(int lost) {
    fabric.delayMessages((from, type) -> type == lost ? VirtualFabric.LOST : 0);
    VirtualFetch fetch = fetch();
    assertThat(fabric.runUntil(fetch::isAnswered, 600 * MS)).as("by TCP").isTrue();
    assertThat(fetch.isRead()).isFalse();
    fabric.run(6_000 * MS);
    assertThat(reader.connections()).as("without an answer").isZero();
    assertThat(server.connections()).as("without a confirmation").isZero();
    loseNothing();
    fabric.run(EARNED_NS);
    assertReads("after the lost message");
  }

  /** No lease is released, and none stays. */
  @Test
  void shouldReconnectAfterALostRelease() {
    fabric.delayMessages((from, type) -> type == Messages.RELEASE ? VirtualFabric.LOST : 0);
    assertReads("before the release");
    loseNothing();
    fabric.run(5_300 * MS);
    assertThat(reader.connections()).isZero();
    assertThat(server.connections()).isZero();
    assertReads("after the lost release");
  }

  @ParameterizedTest
  @EnumSource(
      value = ConnectionEvent.Type.class,
      names = {"RESOLVED", "CONNECT_REQUEST", "ESTABLISHED"})
  void shouldUseTcpInTimeAndReconnectAfterALostEvent(ConnectionEvent.Type lost) {
    fabric.delayEvents((to, type) -> type == lost ? VirtualFabric.LOST : 0);
    VirtualFetch fetch = fetch();
    assertThat(fabric.runUntil(fetch::isAnswered, 600 * MS)).as("by TCP").isTrue();
    assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.CONNECT_FAILED);
    fabric.run(15_300 * MS);
    assertThat(reader.connections()).isZero();
    assertThat(server.connections()).isZero();
    loseNothing();
    assertReads("after the lost event");
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  /** A received request counts as ESTABLISHED. */
  @Test
  void shouldReadAlthoughTheServersEventOfTheConnectionIsLost() {
    fabric.delayEvents(
        (to, type) ->
            to == server && type == ConnectionEvent.Type.ESTABLISHED ? VirtualFabric.LOST : 0);
    assertReads("without the event");
  }

  /** The server has ended the connection, and the reader does not know. */
  @Test
  void shouldReconnectAfterALostEventOfTheEnd() throws Exception {
    renewFabric();
    reader = fabric.start(BLOCK_BYTES, "request.timeout", "5s");
    server = fabric.start(BLOCK_BYTES, "idle.timeout", "100ms");
    assertReads("at first");
    fabric.delayEvents(
        (to, type) -> type == ConnectionEvent.Type.DISCONNECTED ? VirtualFabric.LOST : 0);
    fabric.run(500 * MS);
    assertThat(server.connections()).as("idle").isZero();
    assertThat(reader.connections()).isEqualTo(1);
    VirtualFetch fetch = fetch();
    assertThat(fabric.runUntil(fetch::isAnswered, 600 * MS)).isTrue();
    assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.SLOW_PEER);
    loseNothing();
    fabric.run(EARNED_NS);
    assertReads("after the time-out");
  }

  /** The blocks use TCP, and the request that is repeated connects. */
  @Test
  void shouldUseTheConnectionOfALateRequest() {
    fabric.delayEvents((to, type) -> type == ConnectionEvent.Type.CONNECT_REQUEST ? REPEAT_NS : 0);
    VirtualFetch fetch = fetch();
    assertThat(fabric.runUntil(fetch::isAnswered, 600 * MS)).isTrue();
    assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.CONNECT_FAILED);
    fabric.run(6_000 * MS);
    assertReads("after the repeated request");
    assertThat(reader.requests).isEqualTo(1);
  }

  /** The attempt has ended when its request arrives: the server keeps nothing of it. */
  @Test
  void shouldKeepNothingOfARequestThatComesTooLate() {
    fabric.delayEvents(
        (to, type) -> type == ConnectionEvent.Type.CONNECT_REQUEST ? 16_000 * MS : 0);
    VirtualFetch fetch = fetch();
    fabric.run(15_500 * MS);
    assertThat(fetch.isAnswered()).isTrue();
    assertThat(reader.connections()).isZero();
    fabric.run(7_000 * MS);
    assertThat(server.connections()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = ConnectionEvent.Type.class,
      names = {"REJECTED", "REJECTED_AS_STALE"})
  void shouldTryAgainWhileItIsRejected(ConnectionEvent.Type rejection) {
    fabric.reject(server.address, rejection, Messages.FULL);
    VirtualFetch fetch = fetch();
    fabric.run(200 * MS);
    assertThat(fetch.isAnswered()).as("it waits").isFalse();
    assertThat(reader.requests).isBetween(3, 20);
    fabric.rejectNothing();
    fabric.run(300 * MS);
    assertThat(fetch.isRead()).isTrue();
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  @Test
  void shouldUseTcpWhenItIsRejectedForTooLong() {
    fabric.reject(server.address, ConnectionEvent.Type.REJECTED_AS_STALE);
    VirtualFetch fetch = fetch();
    assertThat(fabric.runUntil(fetch::isAnswered, 600 * MS)).isTrue();
    assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.CONNECT_FAILED);
    int requests = reader.requests;
    fabric.run(20_000 * MS);
    assertThat(reader.requests).as("nothing is wanted any more").isLessThan(requests + 2);
    fabric.rejectNothing();
    assertReads("no longer rejected");
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  /** Whatever is lost or late: each block has its answer in time, and the peer is read again. */
  @Test
  void shouldAnswerEachBlockInTimeWhateverIsLostOrLate() throws Exception {
    for (int trial = 0; trial < TRIALS; trial++) {
      start();
      Random random = new Random(trial);
      int lostPercent = random.nextInt(30);
      int latePercent = random.nextInt(60);
      fabric.delayEvents((to, type) -> delayNs(random, lostPercent, latePercent));
      fabric.delayMessages((from, type) -> delayNs(random, lostPercent, latePercent));
      String what = "trial=%d lost=%d %% late=%d %%".formatted(trial, lostPercent, latePercent);
      List<VirtualFetch> fetches = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        VirtualExecutor by = random.nextBoolean() ? reader : server;
        VirtualExecutor from = by == reader ? server : reader;
        VirtualFetch fetch = new VirtualFetch(by, from.endpoint(), 0, 3, () -> {});
        fetches.add(fetch);
        if (random.nextBoolean()) {
          fabric.run(random.nextLong(2_000) * MS);
        } else {
          assertThat(fabric.runUntil(fetch::isAnswered, MAX_ANSWER_NS)).as(what).isTrue();
        }
      }
      fabric.run(MAX_ANSWER_NS);
      assertThat(fetches).as(what).allMatch(VirtualFetch::isAnswered);
      loseNothing();
      // The last attempts end, and time has earned what waits have spent.
      fabric.run(20_000 * MS);
      fabric.run(300_000 * MS);
      assertReads(what);
    }
  }

  private static long delayNs(Random random, int lostPercent, int latePercent) {
    int drawn = random.nextInt(100);
    if (drawn < lostPercent) {
      return VirtualFabric.LOST;
    }
    return drawn < lostPercent + latePercent ? random.nextLong(7_000) * MS : 0;
  }
}
