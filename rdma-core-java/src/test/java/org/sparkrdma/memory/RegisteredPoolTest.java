// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.StubDevice;

@Timeout(30)
class RegisteredPoolTest {
  private static final int CHUNK = 4096;
  private static final int PER_REGION = 4;
  private static final int REGION = CHUNK * PER_REGION;
  private static final long REFUSED_NS = TimeUnit.MILLISECONDS.toNanos(RegionSource.PAUSE_MS);

  private final StubDevice device = new StubDevice();
  private final PinnedBudget budget = new PinnedBudget(3 * REGION, CHUNK);
  private final RegisteredPool pool = pool(2 * REGION);
  private long nowNs = Long.MAX_VALUE - 1_000;

  private RegisteredPool pool(long limitBytes) {
    return new RegisteredPool(
        new OpenDevice(device, device, budget, () -> nowNs),
        EnumSet.of(AccessFlag.LOCAL_WRITE),
        CHUNK,
        PER_REGION,
        limitBytes);
  }

  @AfterEach
  void shouldLeaveNothingRegistered() {
    pool.close();
    assertThat(device.memoriesOpen()).isZero();
    assertThat(device.regionCount()).isZero();
    budget.close();
  }

  @Test
  void shouldRegisterARegionForTheFirstChunkOnly() {
    List<RegisteredChunk> chunks = take(PER_REGION);
    assertThat(device.registrations()).isEqualTo(1);
    assertThat(pool.registeredBytes()).isEqualTo(REGION);
    assertThat(budget.pinnedBytes()).isEqualTo(REGION);
    assertThat(chunks.get(0).region().access()).containsExactly(AccessFlag.LOCAL_WRITE);
    release(chunks);
    release(take(PER_REGION));
    assertThat(device.registrations()).isEqualTo(1);
  }

  @Test
  void shouldGiveOutAndTakeBackChunksWhileARegionIsRegistered() {
    RegisteredChunk held = take(1).get(0);
    List<RegisteredChunk> others = take(PER_REGION - 1);
    List<Integer> seen = new ArrayList<>();
    // Another thread comes while the device registers the second region, and does not wait for it.
    device.onNextRegistration(
        () ->
            CompletableFuture.runAsync(
                    () -> {
                      held.release();
                      RegisteredChunk again = take(1).get(0);
                      seen.add(pool.chunksOut());
                      again.release();
                    })
                .orTimeout(10, TimeUnit.SECONDS)
                .join());
    RegisteredChunk grown = take(1).get(0);
    assertThat(seen).containsExactly(PER_REGION);
    assertThat(device.regionCount()).isEqualTo(2);
    grown.release();
    release(others);
  }

  @Test
  void shouldKeepToALimitThatIsLowered() {
    release(take(2 * PER_REGION));
    pool.limit(REGION);
    assertThat(pool.trimFree(1)).isEqualTo(1);
    List<RegisteredChunk> chunks = take(PER_REGION);
    assertThat(pool.tryTake()).isEmpty();
    assertThat(pool.availableBytes()).isZero();
    pool.limit(2 * REGION);
    chunks.addAll(take(1));
    release(chunks);
    assertThat(pool.trimFree(9)).isEqualTo(2);
    assertThat(device.regionCount()).isZero();
  }

  @Test
  void shouldLendChunksThatDoNotOverlap() {
    List<RegisteredChunk> chunks = take(2 * PER_REGION);
    Set<Long> addresses = new HashSet<>();
    for (RegisteredChunk chunk : chunks) {
      assertThat(chunk.address() - chunk.region().address()).isEqualTo(chunk.regionOffset());
      assertThat(chunk.lengthBytes()).isEqualTo(CHUNK);
      assertThat(chunk.regionOffset()).isBetween(0L, (long) REGION - CHUNK);
      assertThat(addresses.add(chunk.address())).isTrue();
      chunk.slice(0, CHUNK).putLong(0, chunk.address()).putLong(CHUNK - 8, ~chunk.address());
    }
    for (RegisteredChunk chunk : chunks) {
      assertThat(chunk.slice(0, 8).getLong()).isEqualTo(chunk.address());
      assertThat(chunk.slice(CHUNK - 8, 8).getLong()).isEqualTo(~chunk.address());
    }
    release(chunks);
  }

  @Test
  void shouldUndoEverythingWhenTheDeviceRefuses() {
    device.refuseMemory(true);
    assertThat(pool.tryTake()).isEmpty();
    assertThat(device.refusals()).isEqualTo(1);
    device.refuseMemory(false);
    device.refuseRegions(true);
    nowNs += REFUSED_NS;
    assertThat(pool.tryTake()).isEmpty();
    assertThat(device.refusals()).isEqualTo(2);
    assertThat(device.memoriesOpen()).isZero();
    assertThat(budget.pinnedBytes()).isZero();
    device.refuseRegions(false);
    nowNs += REFUSED_NS;
    release(take(1));
  }

  @Test
  void shouldCountNoMoreRegionsForSomeTimeAfterTheDeviceHasRefusedOne() {
    List<RegisteredChunk> chunks = take(1);
    long free = REGION - CHUNK;
    assertThat(pool.availableBytes()).isEqualTo(REGION + free);
    device.refuseRegions(true);
    chunks.addAll(take(PER_REGION - 1));
    for (int i = 0; i < 100; i++) {
      assertThat(pool.tryTake()).isEmpty();
      assertThat(pool.availableBytes()).isZero();
    }
    assertThat(device.refusals()).isEqualTo(1);
    chunks.remove(0).release();
    assertThat(pool.availableBytes()).as("a chunk that is free").isEqualTo(CHUNK);
    chunks.addAll(take(1));

    device.refuseRegions(false);
    nowNs += REFUSED_NS - 1;
    assertThat(pool.tryTake()).isEmpty();
    nowNs++;
    assertThat(pool.availableBytes()).isEqualTo(REGION);
    chunks.addAll(take(PER_REGION));
    release(chunks);
  }

  @Test
  void shouldReportThatTheDeviceRefusesUntilItDoesNot() {
    List<Long> wanted = new ArrayList<>();
    budget.onShortage(wanted::add);
    device.refuseRegions(true);
    assertThat(pool.tryTake()).isEmpty();
    assertThat(wanted).containsExactly((long) REGION);
    assertThat(budget.takeRefusal()).isTrue();
    assertThat(budget.takeRefusal()).isFalse();
    pool.reportShortage(REGION + 1);
    assertThat(wanted).containsExactly((long) REGION, 2L * REGION);
    assertThat(budget.takeRefusal()).as("in the pause").isTrue();
    nowNs += REFUSED_NS;
    pool.reportShortage(1);
    assertThat(wanted).containsExactly((long) REGION, 2L * REGION, (long) REGION);
    assertThat(budget.takeRefusal()).as("unknown by now").isFalse();
  }

  @Test
  void shouldUndoEverythingWhenTheDeviceIsMisused() {
    device.throwOnRegister();
    assertThatThrownBy(pool::tryTake).isInstanceOf(IllegalStateException.class);
    assertThat(device.memoriesOpen()).isZero();
    assertThat(budget.pinnedBytes()).isZero();
    assertThat(pool.chunksOut()).isZero();
  }

  @Test
  void shouldReleaseRegionsUnusedBetweenTwoChecks() {
    List<RegisteredChunk> chunks = take(PER_REGION + 1);
    RegisteredChunk last = chunks.remove(PER_REGION);
    release(chunks);
    pool.trimUnused();
    assertThat(pool.registeredBytes()).as("used since the last check").isEqualTo(2 * REGION);
    pool.trimUnused();
    assertThat(pool.registeredBytes()).as("one chunk is outstanding").isEqualTo(REGION);
    last.release();
    pool.trimUnused();
    assertThat(budget.pinnedBytes()).isZero();
    release(take(1));
    pool.trimUnused();
    assertThat(pool.registeredBytes()).isEqualTo(REGION);
  }

  @Test
  void shouldLendNoChunkOfARegionWhoseReleaseThrows() {
    release(take(1));
    device.throwOnNextFree();
    assertThatThrownBy(this::trimAll).isInstanceOf(IllegalStateException.class);
    List<RegisteredChunk> chunks = take(2 * PER_REGION);
    assertThat(device.registrations()).as("of that region and two others").isEqualTo(3);
    assertThat(budget.pinnedBytes()).as("bytes of those two").isEqualTo(2 * REGION);
    release(chunks);
  }

  @Test
  void shouldReportTheRefusalSoThatOthersReleaseMemory() {
    List<Long> wanted = new ArrayList<>();
    budget.onShortage(wanted::add);
    try (var all = budget.tryGrant(budget.limitBytes() - budget.pinnedBytes()).orElseThrow()) {
      assertThat(all.heldBytes()).isPositive();
      assertThat(pool.tryTake()).isEmpty();
    }
    assertThat(wanted).containsExactly((long) REGION);
  }

  @Test
  void shouldRefuseToCountAChunkThatIsNotLent() {
    RegisteredChunk chunk = take(1).get(0);
    chunk.release();
    assertThatThrownBy(chunk::retain).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(chunk::release).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(chunk::release).isInstanceOf(IllegalStateException.class);
    assertThat(pool.chunksOut()).isZero();
    RegisteredChunk again = take(1).get(0);
    again.retain();
    again.release();
    assertThat(pool.chunksOut()).isEqualTo(1);
    again.release();
  }

  @Test
  void shouldStayRegisteredAfterCloseUntilTheLastChunkIsReturned() {
    List<RegisteredChunk> chunks = take(2);
    pool.close();
    assertThat(pool.tryTake()).isEmpty();
    chunks.get(0).release();
    chunks.get(1).slice(0, 8).putLong(1);
    assertThat(device.regionCount()).isEqualTo(1);
    chunks.get(1).release();
    assertThat(device.regionCount()).isZero();
    pool.close();
  }

  @Test
  void shouldCountCorrectlyDuringRandomUse() {
    Random random = new Random(7);
    ArrayDeque<RegisteredChunk> out = new ArrayDeque<>();
    for (int step = 0; step < 20_000; step++) {
      switch (random.nextInt(5)) {
        case 0, 1 -> {
          Optional<RegisteredChunk> taken = pool.tryTake();
          assertThat(taken.isPresent()).isEqualTo(out.size() < 2 * PER_REGION);
          taken.ifPresent(random.nextBoolean() ? out::addFirst : out::addLast);
        }
        case 2, 3 -> {
          if (!out.isEmpty()) {
            out.removeFirst().release();
          }
        }
        default -> trimAll();
      }
      assertThat(pool.chunksOut()).isEqualTo(out.size());
      assertThat(pool.registeredBytes()).isEqualTo(budget.pinnedBytes());
      assertThat(pool.registeredBytes()).isBetween((long) out.size() * CHUNK, 2L * REGION);
    }
    out.forEach(RegisteredChunk::release);
  }

  /** Deregisters all regions without a chunk in use. */
  private void trimAll() {
    pool.markIdle();
    pool.trimUnused();
  }

  private List<RegisteredChunk> take(int count) {
    List<RegisteredChunk> chunks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      chunks.add(pool.tryTake().orElseThrow());
    }
    return chunks;
  }

  private static void release(List<RegisteredChunk> chunks) {
    chunks.forEach(RegisteredChunk::release);
  }
}
