// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
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
  private static final int SHORT = 4_096;

  /** So long that the owner overwrites it during the copy, where it does not wait. */
  private static final int LONG = RemoteDevice.PIECE_BYTES;

  private static final int QUEUE_PAIR = 1;
  private static final byte FOREIGN = (byte) 0xee;
  private static final int VALUES = 100;

  /** A region that was registered, and the byte that filled it. */
  private record Registered(long address, int key, byte value) {}

  @TempDir Path base;
  private final Map<WorkStatus, Integer> counts = new EnumMap<>(WorkStatus.class);

  /** The latest region; null before the first one. */
  private volatile Registered latest;

  /** The reader has read often enough with valid and with invalid keys. */
  private volatile boolean enough;

  private volatile boolean done;

  private int length = SHORT;
  private int longestPause = 200;

  /** Least number of reads of each outcome. */
  private int enoughReads = 1_000;

  @Test
  void shouldReadNoForeignByteInManyRounds() throws Exception {
    readDuring(200_000);
  }

  @Test
  void shouldReadNoForeignByteFromAnOwnerThatWaitsNoLonger() throws Exception {
    length = LONG;
    longestPause = 20_000;
    enoughReads = 100;
    readDuring(1_000);
  }

  private void readDuring(int rounds) throws Exception {
    try (SoftDevice owner = open();
        SoftDevice reader = open()) {
      var owning = new FutureTask<>(() -> registerOften(owner, rounds), null);
      new Thread(owning, "owner").start();
      readUntilDone(reader, owner.directory.name());
      owning.get();
    }
    assertThat(hasEnough()).as("%s", counts).isTrue();
    assertThat(counts).containsOnlyKeys(WorkStatus.SUCCESS, WorkStatus.REMOTE_ACCESS_ERROR);
  }

  private SoftDevice open() throws Exception {
    var settings = SoftSettings.of(EngineSettings.of(Map.of("soft.directory", base.toString())));
    return SoftDevice.open(settings, HostIdentity.self(), true, Thread::new, device -> {});
  }

  private boolean hasEnough() {
    return counts.getOrDefault(WorkStatus.SUCCESS, 0) > enoughReads
        && counts.getOrDefault(WorkStatus.REMOTE_ACCESS_ERROR, 0) > enoughReads;
  }

  private void registerOften(SoftDevice device, int rounds) {
    try (var domain = (SoftProtectionDomain) device.allocateProtectionDomain();
        var memory = device.allocate(length)) {
      int index = SharedTable.queuePairIndex(QUEUE_PAIR);
      device.table.publishQueuePair(index, QUEUE_PAIR, domain.id(), RegionAccess.REMOTE_READ);
      ByteBuffer bytes = memory.slice(0, length);
      byte[] content = new byte[length];
      byte[] foreign = new byte[length];
      Arrays.fill(foreign, FOREIGN);
      var random = new SplittableRandom(1);
      // On a busy machine the reader seldom runs at the same time.
      for (int round = 1; round <= rounds || !enough; round++) {
        byte value = (byte) (1 + round % VALUES);
        Arrays.fill(content, value);
        bytes.put(0, content);
        MemoryRegion region = domain.register(memory, 0, length, Set.of(AccessFlag.REMOTE_READ));
        latest = new Registered(region.address(), region.remote().remoteKey32(), value);
        for (int pause = random.nextInt(longestPause); pause > 0; pause--) {
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
        var memory = device.allocate(length);
        var sink = domain.register(memory, 0, length, Set.of(AccessFlag.LOCAL_WRITE))) {
      var peer = new RemoteDevice(device.directory.peer(owner), true, 1);
      if (length == LONG) {
        passForAnEndedProcess(device.directory.peer(owner));
      }
      var outcome = new AtomicReference<WorkStatus>();
      var entry = new WorkEntry(1);
      var request = new WorkRequest(1);
      ByteBuffer bytes = memory.slice(0, length);
      byte[] brought = new byte[length];
      byte[] expected = new byte[length];
      Registered refused = null;
      while (!done) {
        Registered region = latest;
        if (region == null || region.equals(refused)) {
          Thread.onSpinWait();
          continue;
        }
        request.read(1, region.address, region.key).local(sink, 0, length);
        entry.fill(request);
        device.loop.call(
            () ->
                outcome.set(
                    peer.copy(
                        QUEUE_PAIR,
                        entry,
                        entry.remoteKey,
                        entry.remoteAddress,
                        length,
                        RegionAccess.REMOTE_READ)));
        entry.clear();
        counts.merge(outcome.get(), 1, Integer::sum);
        if (hasEnough()) {
          enough = true;
        }
        if (outcome.get() == WorkStatus.SUCCESS) {
          bytes.get(0, brought);
          Arrays.fill(expected, region.value);
          assertThat(Arrays.mismatch(brought, expected)).as("first foreign byte").isNegative();
        } else {
          refused = region;
        }
      }
      peer.close();
    }
  }

  /** Gives the only reader of a device another process, for which the owner does not wait. */
  private static void passForAnEndedProcess(Path owner) throws IOException {
    int readers = 4_096 + SharedTable.REGIONS * 64 + SharedTable.QUEUE_PAIRS * 32;
    ByteBuffer ended = ByteBuffer.allocate(Long.BYTES).putLong(0, 1);
    Path table = owner.resolve(SharedDirectory.TABLE);
    try (var file = FileChannel.open(table, StandardOpenOption.WRITE)) {
      file.write(ended, readers);
    }
  }
}
