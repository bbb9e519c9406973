// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * Check and copy are one step. One device registers, deregisters and overwrites memory while
 * another one reads it with keys that may just have become invalid. A successful read must contain
 * only bytes from the time when its key was valid. The devices share files, as those of two
 * processes do.
 */
@Tag("slow")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class DeregisterStressTest {
  private static final int LENGTH = 4096;
  private static final int QUEUE_PAIR = 1;
  private static final byte FOREIGN = (byte) 0xee;
  private static final int VALUES = 100;
  private static final int LONGEST_PAUSE = 200;

  /** Least number of reads of each outcome. */
  private static final int ENOUGH = 1_000;

  /** A region that was registered, and the byte that filled it. */
  private record Registered(long address, int key, byte value) {}

  @TempDir Path base;
  private final Map<WorkStatus, Integer> counts = new EnumMap<>(WorkStatus.class);

  /** The latest region; null before the first one. */
  private volatile Registered latest;

  /** The reader has read often enough with valid and with invalid keys. */
  private volatile boolean enough;

  private volatile boolean done;

  @Test
  void shouldReadNoForeignByteInManyRounds() throws Exception {
    readDuring(200_000);
  }

  private void readDuring(int rounds) throws Exception {
    try (SoftDevice owner = open();
        SoftDevice reader = open()) {
      var owning = new FutureTask<>(() -> registerOften(owner, rounds), null);
      new Thread(owning, "owner").start();
      readUntilDone(reader, owner.directory.name());
      owning.get();
    }
    System.out.println("reads by outcome: " + counts);
    assertThat(hasEnough()).as("%s", counts).isTrue();
    assertThat(counts).hasSize(2);
  }

  private SoftDevice open() throws Exception {
    var settings = SoftSettings.of(EngineSettings.of(Map.of("soft.directory", base.toString())));
    return SoftDevice.open(settings, HostIdentity.self(), true, Thread::new, device -> {});
  }

  private boolean hasEnough() {
    return counts.getOrDefault(WorkStatus.SUCCESS, 0) > ENOUGH
        && counts.getOrDefault(WorkStatus.REMOTE_ACCESS_ERROR, 0) > ENOUGH;
  }

  private void registerOften(SoftDevice device, int rounds) {
    try (var domain = (SoftProtectionDomain) device.allocateProtectionDomain();
        var memory = device.allocate(LENGTH)) {
      int index = SharedTable.queuePairIndex(QUEUE_PAIR);
      device.table.publishQueuePair(index, QUEUE_PAIR, domain.id(), RegionAccess.REMOTE_READ);
      ByteBuffer bytes = memory.slice(0, LENGTH);
      byte[] content = new byte[LENGTH];
      byte[] foreign = new byte[LENGTH];
      Arrays.fill(foreign, FOREIGN);
      var random = new SplittableRandom(1);
      // On a busy machine the reader seldom runs at the same time.
      for (int round = 1; round <= rounds || !enough; round++) {
        byte value = (byte) (1 + round % VALUES);
        Arrays.fill(content, value);
        bytes.put(0, content);
        MemoryRegion region = domain.register(memory, 0, LENGTH, Set.of(AccessFlag.REMOTE_READ));
        latest = new Registered(region.address(), region.remote().remoteKey32(), value);
        for (int pause = random.nextInt(LONGEST_PAUSE); pause > 0; pause--) {
          Thread.onSpinWait();
        }
        region.close();
        bytes.put(0, foreign);
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    } finally {
      done = true;
    }
  }

  private void readUntilDone(SoftDevice device, String owner) throws Exception {
    try (var domain = device.allocateProtectionDomain();
        var memory = device.allocate(LENGTH);
        var sink = domain.register(memory, 0, LENGTH, Set.of(AccessFlag.LOCAL_WRITE))) {
      var peer = new RemoteDevice(device.directory.peer(owner), true, 1);
      var outcome = new AtomicReference<WorkStatus>();
      var entry = new WorkEntry(1);
      var request = new WorkRequest(1);
      ByteBuffer bytes = memory.slice(0, LENGTH);
      byte[] brought = new byte[LENGTH];
      byte[] expected = new byte[LENGTH];
      Registered refused = null;
      while (!done) {
        Registered region = latest;
        if (region == null || region.equals(refused)) {
          Thread.onSpinWait();
          continue;
        }
        request.read(1, region.address, region.key).local(sink, 0, LENGTH);
        entry.fill(request);
        device.loop.call(
            () ->
                outcome.set(
                    peer.copy(
                        QUEUE_PAIR,
                        entry,
                        entry.remoteKey,
                        entry.remoteAddress,
                        LENGTH,
                        RegionAccess.REMOTE_READ)));
        entry.clear();
        counts.merge(outcome.get(), 1, Integer::sum);
        if (hasEnough()) {
          enough = true;
        }
        if (outcome.get() == WorkStatus.SUCCESS) {
          bytes.get(0, brought);
          Arrays.fill(expected, region.value);
          assertThat(brought).isEqualTo(expected);
        } else {
          refused = region;
        }
      }
      peer.close();
    }
  }
}
