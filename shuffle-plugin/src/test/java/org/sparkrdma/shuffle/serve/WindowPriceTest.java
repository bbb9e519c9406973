// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WindowPriceTest {
  private static final int WINDOW = 16 << 20;
  private static final int PAGES = WINDOW / WindowPrice.PAGE_BYTES;

  /** The costs of a card, in nanoseconds. */
  private static WindowPrice card() {
    return new WindowPrice(
        new WindowPrice.Cost(75_000, 270),
        new WindowPrice.Cost(50_000, 100),
        new WindowPrice.Cost(5_000, 300));
  }

  @Test
  void shouldPayOnACardForManySmallBlocksOnly() {
    assertThat(card().pays(256, WINDOW)).as("64 KiB").isTrue();
    assertThat(card().pays(32, WINDOW)).as("512 KiB").isFalse();
    assertThat(card().paysFor(1, WINDOW, WINDOW)).isFalse();
  }

  @Test
  void shouldTakeCallAndPageFromTwoLengths() {
    WindowPrice.Cost cost = WindowPrice.Cost.of(4_096, 5_300, 1 << 20, 5_000 + 256 * 300);
    assertThat(cost.of(1, 4_096)).isEqualTo(5_300);
    assertThat(cost.of(2, 2 << 20))
        .isCloseTo(10_000 + 512 * 300, org.assertj.core.data.Offset.offset(1.0));
  }

  /** It was measured while the JVM was cold, or the thread waited for a processor. */
  @Test
  void shouldFindOutThatAPriceWasMeasuredWrong() {
    WindowPrice price =
        new WindowPrice(
            new WindowPrice.Cost(30_000_000, 0),
            new WindowPrice.Cost(100_000, 0),
            new WindowPrice.Cost(5_000, 300));
    assertThat(price.pays(256, WINDOW)).isFalse();
    int trials = 0;
    long copiedNs = 0;
    while (!price.pays(256, WINDOW) && copiedNs < 60_000_000_000L) {
      price.onCopied(16, 1 << 20, 16 * 5_000 + 256 * 300);
      copiedNs += 16 * 5_000 + 256 * 300;
      if (price.isTrial(WINDOW)) {
        trials++;
        price.onRegistered(WINDOW, 25_000);
        price.onDeregistered(WINDOW, 30_000);
      }
    }
    assertThat(trials).isBetween(1, 4);
    assertThat(copiedNs).as("soon").isLessThan(5_000_000_000L);
  }

  /** Trials cost a fiftieth of what copies do. */
  @Test
  void shouldTryLittleWhereWindowsDoNotPay() {
    WindowPrice price = card();
    long copiedNs = 0;
    long triedNs = 0;
    for (int i = 0; i < 100_000; i++) {
      price.onCopied(2, 1 << 20, 2 * 5_000 + 256 * 300);
      copiedNs += 2 * 5_000 + 256 * 300;
      if (price.isTrial(WINDOW)) {
        triedNs += 125_000 + 370L * PAGES;
        price.onRegistered(WINDOW, 75_000 + 270L * PAGES);
        price.onDeregistered(WINDOW, 50_000 + 100L * PAGES);
      }
    }
    assertThat(price.pays(32, WINDOW)).isFalse();
    assertThat(triedNs).isPositive().isLessThan(copiedNs / 40);
  }
}
