// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.Transport;

@Timeout(60)
class CostProbeTest {
  private static final Set<AccessFlag> ACCESS = Set.of(AccessFlag.REMOTE_READ);
  private static final long MIB = 1 << 20;

  @TempDir private Path folder;
  private final FakeDomain domain = new FakeDomain();
  private final PinnedBudget budget = new PinnedBudget(2 * MIB, FakeDomain.PAGE);
  private long nowNs = Long.MAX_VALUE - 1_000;

  @AfterEach
  void leaveNothing() throws Exception {
    assertThat(budget.pinnedBytes()).isZero();
    assertThat(domain.regionCount()).isZero();
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).isEmpty();
    }
  }

  private Optional<ServingCosts> measure(LongSupplier clock) {
    FakeDevice device = new FakeDevice(1_000, EnumSet.of(Capability.FILE_REGIONS));
    return new CostProbe(device, domain, budget, ACCESS, clock).measure(folder);
  }

  @Test
  void shouldMeasureAWindowAndACopy() {
    // Other load may take the time of the test.
    Optional<ServingCosts> costs = Optional.empty();
    while (costs.isEmpty()) {
      costs = measure(System::nanoTime);
    }

    System.out.println("costs on a fake device: " + costs.get());
    assertThat(costs.get().windowNs(MIB)).isPositive();
    assertThat(costs.get().copyNs(MIB)).isGreaterThan(costs.get().copyNs(0));
  }

  /** Each reading of the clock takes as long as a call of the device would. */
  private LongSupplier slowClock(long stepNs) {
    return () -> nowNs += stepNs;
  }

  @Test
  void shouldEndInTimeAndAssumeTheCostsOfASlowDevice() {
    assertThat(measure(slowClock(CostProbe.LIMIT_NS / 10))).isEmpty();

    assertThat(domain.fileCalls()).isLessThanOrEqualTo(2 * CostProbe.MIN_ROUNDS);
  }

  @Test
  void shouldTakeTheCostsOfManyRounds() {
    ServingCosts costs = measure(slowClock(50_000)).orElseThrow();

    // Copying is assumed to cost 52 us per MiB.
    assertThat(costs).isEqualTo(new ServingCosts(50_000, 0, 50_000, 52_000 / 8));
  }

  @Test
  void shouldCountTheEndOfARegistration() {
    domain.onDeregistration(() -> nowNs += 100_000);

    assertThat(measure(slowClock(1_000)))
        .hasValue(new ServingCosts(101_000, 0, 12_000 / 8, 52_000 / 8));
  }

  /** An executor has one line at INFO for its start, which is not this one. */
  @Test
  void shouldLogTheCostsAtDebugOnly() {
    String logger = CostProbe.class.getName();
    try (CapturedLog info = CapturedLog.fromInfo(logger)) {
      assertThat(measure(slowClock(50_000))).isPresent();
      assertThat(info.warnings()).isEmpty();
    }
    try (CapturedLog debug = CapturedLog.fromDebug(logger)) {
      assertThat(measure(slowClock(50_000))).isPresent();
      assertThat(debug.warnings()).singleElement().asString().startsWith("Costs of serving on ");
    }
  }

  @Test
  void shouldStayNearTheAssumedCostsWhenTheMeasurementIsDisturbed() {
    ServingCosts assumed = new ServingCosts(40_000, 0, 16_000, 80_000);

    assertThat(new ServingCosts(5_000_000, 5_000_000, 1_000, 0).near(assumed))
        .isEqualTo(new ServingCosts(320_000, 320_000, 2_000, 10_000));
    assertThat(new ServingCosts(41_000, 7_000, 17_000, 81_000).near(assumed))
        .isEqualTo(new ServingCosts(41_000, 7_000, 17_000, 81_000));
  }

  @Test
  void shouldMeasureNothingWhereFilesCannotBeRegistered() {
    domain.refuseFiles(true);

    assertThat(measure(System::nanoTime)).isEmpty();
  }

  @Test
  void shouldMeasureNothingWithoutRoomForAWindow() {
    try (PinnedBudget.Grant taken = budget.tryGrant(MIB + 1).orElseThrow()) {
      assertThat(taken).isNotNull();
      assertThat(measure(System::nanoTime)).isEmpty();
    }

    assertThat(domain.fileCalls()).isZero();
  }

  @Test
  void shouldExplainTwoLengths() {
    assertThat(ServingCosts.of(64 << 10, MIB, 47_500, 85_000, 15_250, 64_000))
        .isEqualTo(ServingCosts.assumed(Transport.INFINIBAND));
  }

  @Test
  void shouldStayNearTheAssumedCostsWhenALongFileTookLessTimeThanAShortOne() {
    ServingCosts assumed = ServingCosts.assumed(Transport.INFINIBAND);

    assertThat(ServingCosts.of(64 << 10, MIB, 900_000, 10, 900_000, 10).near(assumed))
        .isEqualTo(new ServingCosts(360_000, 5_000, 320_000, 6_500));
  }
}
