// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.fetch.WaitBudgets;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Messages;

/** Waits for a peer, with time as a parameter. */
class PeerTest {
  private static final long MS = Duration.ofMillis(1).toNanos();

  /** Close to the overflow of the clock, which may begin anywhere. */
  private long nowNs = Long.MAX_VALUE - 1_000 * MS;

  private final WaitBudget reader = WaitBudgets.ofReader(1);
  private final WaitBudget all = WaitBudgets.ofPeers(reader);
  private final WaitBudget first = WaitBudgets.ofFirstConnections(WaitBudgets.ofReader(1));
  private final PeerHealth waits = new PeerHealth(all, first);
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
              new byte[Endpoint.TOKEN_BYTES]),
          waits);

  private void waitInVain(long lengthMs) {
    long sinceNs = nowNs;
    nowNs += lengthMs * MS;
    waits.inVain(sinceNs, nowNs);
  }

  @Test
  void shouldBeQuarantinedUntilTimeHasEarnedAWait() {
    waitInVain(500);
    assertThat(waits.isQuarantined(nowNs)).isTrue();
    assertThat(waits.limitNs(nowNs)).isZero();
    nowNs += 5_000 * MS;
    assertThat(waits.isQuarantined(nowNs)).isFalse();
    assertThat(waits.limitNs(nowNs)).isEqualTo(100 * MS);
  }

  /** It has waited for room of this executor, or for the peer. */
  @ParameterizedTest
  @CsvSource({"495, true", "5, false"})
  void shouldSpendOfAPeerWhatItsConnectionHasTakenOnly(long turnMs, boolean unspent) {
    peer.onEstablished(nowNs);
    WaitBudget budget = waits.budgetOfConnection(nowNs);
    long sinceNs = nowNs;
    nowNs += 500 * MS;
    waits.onFetchConnected(budget, sinceNs, sinceNs + turnMs * MS, nowNs);
    assertThat(waits.isUnspent(nowNs)).isEqualTo(unspent);
    assertThat(reader.limitNs(nowNs)).isLessThan(reader.capacityNs());
  }

  @Test
  void shouldForgetWaitsInVain() {
    assertThat(peer.isUnused(nowNs)).isTrue();
    waitInVain(100);
    assertThat(peer.isUnused(nowNs)).isFalse();
    nowNs += 5_100 * MS;
    assertThat(peer.isUnused(nowNs)).isTrue();
  }

  @Test
  void shouldWaitShortlyForAPeerThatAnswersWhenOthersHaveSpentWhatAllHave() {
    peer.onEstablished(nowNs);
    all.inVain(nowNs, nowNs + 1_000 * MS);
    nowNs += 1_000 * MS;
    assertThat(waits.limitNs(nowNs)).isEqualTo(20 * MS);
    assertThat(waits.isOver(nowNs - 19 * MS, nowNs)).isFalse();
    assertThat(waits.isOver(nowNs - 20 * MS, nowNs)).isTrue();
    nowNs += 60_000 * MS;
    all.inVain(nowNs - 1_000 * MS, nowNs);
    assertThat(waits.limitNs(nowNs)).as("nothing was wanted of it").isEqualTo(20 * MS);
    waitInVain(20);
    assertThat(waits.limitNs(nowNs)).as("it hangs as well").isZero();
    nowNs += 10_000 * MS;
    all.inVain(nowNs - 200 * MS, nowNs);
    assertThat(waits.limitNs(nowNs)).as("its last wait was in vain").isNotEqualTo(20 * MS);
  }

  /** Else each request would wait while hundreds of peers are connected to again. */
  @Test
  void shouldNotWaitForAConnectionWhenOthersHaveSpentWhatAllHave() {
    peer.onEstablished(nowNs);
    peer.onBroken(false);
    assertThat(peer.mayWait(nowNs)).isTrue();
    all.inVain(nowNs, nowNs + 1_000 * MS);
    nowNs += 1_000 * MS;
    assertThat(waits.limitNs(nowNs)).as("it is well").isEqualTo(20 * MS);
    assertThat(peer.mayWait(nowNs)).isFalse();
  }

  /** Each attempt costs both ends a queue pair. */
  @Test
  void shouldConnectOnceASecondAfterFaultsForWhichNobodyHasWaited() {
    for (int i = 0; i < 21; i++) {
      assertThat(peer.mayWait(nowNs)).isTrue();
      waits.onFault(nowNs);
    }
    assertThat(peer.mayWait(nowNs)).isFalse();
    nowNs += 1_000 * MS;
    assertThat(peer.mayWait(nowNs)).isTrue();
    waits.onFault(nowNs);
    nowNs += 900 * MS;
    assertThat(peer.mayWait(nowNs)).isFalse();
    assertThat(all.limitNs(nowNs)).isEqualTo(all.capacityNs());
  }

  /** The first wait is one for a first connection, too. */
  @Test
  void shouldChargeNothingWhereThisExecutorHasNoMemoryForAConnection() {
    List<FallbackReason> reasons = new ArrayList<>();
    FetchHandler handler =
        new FetchHandler() {
          @Override
          public void onFetched(int index, ManagedBuffer buffer) {
            throw new AssertionError("nothing reads");
          }

          @Override
          public void onFailed(int index, FallbackReason reason, String detail) {
            reasons.add(reason);
          }
        };
    List<BlockRange> blocks = List.of(new BlockRange(0, 0, 0, 1));
    peer.add(FetchHandler.request(peer.endpoint(), blocks, handler), 0, nowNs);
    nowNs += 300 * MS;
    assertThat(peer.leaveWaitingToTcp(FallbackReason.POOL_EMPTY, "no memory", nowNs)).isZero();
    assertThat(reasons).containsExactly(FallbackReason.POOL_EMPTY);
    assertThat(peer.isUnused(nowNs)).isTrue();
    assertThat(first.limitNs(nowNs)).isEqualTo(first.capacityNs());
    assertThat(all.limitNs(nowNs)).isEqualTo(all.capacityNs());
  }

  /** Else it is not read from until its whole budget is earned, minutes perhaps. */
  @Test
  void shouldNeedNoLongerWaitsAfterOnePause() {
    waits.onConnected(nowNs);
    waits.onResult(nowNs);
    waitInVain(500);
    nowNs += 6_000 * MS;
    pause();
    nowNs += 60_000 * MS;
    assertThat(waits.limitNs(nowNs)).isPositive();
    pause();
    nowNs += 60_000 * MS;
    assertThat(waits.limitNs(nowNs)).as("it is slow").isZero();
  }

  private void pause() {
    long sinceNs = nowNs;
    waitInVain(110);
    nowNs += 340 * MS;
    waits.onRecovered(sinceNs, nowNs);
  }

  @Test
  void shouldPauseAtOnceForCorruptData() {
    waits.onCorruptData(nowNs);
    assertThat(peer.mayWait(nowNs)).isFalse();
    assertThat(waits.isQuarantined(nowNs)).isTrue();
  }
}
