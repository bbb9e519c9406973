// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.tools.peer.CardPrices.Registration;

class CardPricesTest {
  private static final int PAGE_BYTES = 4_096;
  private static final long END_CALL_NS = 50_000;
  private static final long END_PAGE_NS = 100;
  private static final long COPY_CALL_NS = 5_000;
  private static final long COPY_PAGE_NS = 300;

  /** First and cold registrations are dearer, and do not count. */
  private static CardPrices withRegistrations(long callNs, long pageNs) {
    List<Registration> registrations =
        IntStream.of(64 << 10, 1 << 20, 16 << 20)
            .mapToObj(
                bytes -> {
                  long pages = bytes / PAGE_BYTES;
                  long warmNs = callNs + pages * pageNs;
                  return new Registration(
                      bytes,
                      10 * warmNs,
                      100 * warmNs,
                      warmNs,
                      END_CALL_NS + pages * END_PAGE_NS,
                      COPY_CALL_NS + pages * COPY_PAGE_NS);
                })
            .toList();
    return new CardPrices(1, registrations, "", 1, 1, 1, 1);
  }

  @Test
  void shouldNameTheWindowsThatPayAndTheirLongestBlocks() {
    assertThat(withRegistrations(75_000, 270).advice())
        .isEqualTo(
            "windows of 1 MiB pay for blocks up to 16 KiB, windows of 16 MiB pay for blocks up to"
                + " 64 KiB (a window costs 125.0 us and 370 ns a page, a copy 5.0 us and 300 ns); no"
                + " setting is needed");
  }

  @Test
  void shouldNameTheShortestWindowThatPaysForAllBlocksWhereAPageCostsLessThanItsCopy() {
    assertThat(withRegistrations(1_000, 20).advice())
        .startsWith("windows of 64 KiB pay for blocks up to 4 KiB, windows of 1 MiB pay for")
        .contains("windows of 16 MiB pay for all blocks (a window costs 51.0 us and 120 ns a page");
  }

  @Test
  void shouldAdviseCopiesWhereNoWindowPays() {
    assertThat(withRegistrations(5_000_000, 3_000).advice())
        .isEqualTo(
            "copies, because no window pays (a window costs 5050.0 us and 3100 ns a page, a copy"
                + " 5.0 us and 300 ns); set spark.shuffle.rdma.serve=copy");
  }

  @Test
  void shouldGiveTheReasonWhereTooLittleIsRegistered() {
    List<Registration> shortest = withRegistrations(75_000, 270).registrations().subList(0, 1);
    assertThat(new CardPrices(1, List.of(), "refused", 1, 1, 1, 1).advice()).isEqualTo("refused");
    assertThat(new CardPrices(1, shortest, "refused", 1, 1, 1, 1).advice()).isEqualTo("refused");
  }
}
