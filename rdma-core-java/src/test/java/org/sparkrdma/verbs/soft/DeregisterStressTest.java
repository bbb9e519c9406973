// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.contract.PeerProcess;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * Check and copy are one step. One process registers, deregisters and overwrites memory while this
 * one reads it with keys that may just have become invalid. A successful read must contain only
 * bytes from the time when its key was valid.
 */
@Tag("slow")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class DeregisterStressTest {
  private static final int LENGTH = 4096;

  /** Least number of reads of each outcome. */
  private static final int ENOUGH = 1_000;

  private static final Set<AccessFlag> SINK = Set.of(AccessFlag.LOCAL_WRITE);

  @TempDir Path base;

  @Test
  void shouldReadNoForeignByteInManyRounds() throws Exception {
    readDuring(200_000);
  }

  @Test
  @Tag("nightly")
  void shouldReadNoForeignByteInAMillionRounds() throws Exception {
    readDuring(1_000_000);
  }

  private void readDuring(int rounds) throws Exception {
    Path control = Files.write(base.resolve("control"), new byte[StressOwner.CONTROL_BYTES]);
    Process owner =
        PeerProcess.java(
            List.of(),
            StressOwner.class,
            List.of(base.toString(), control.toString(), Integer.toString(rounds)));
    Map<WorkStatus, Integer> counts = new EnumMap<>(WorkStatus.class);
    var settings = SoftSettings.of(EngineSettings.of(Map.of("soft.directory", base.toString())));
    try (SoftDevice device = SoftDevice.open(settings, HostIdentity.self(), true, d -> {});
        FileChannel channel =
            FileChannel.open(control, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      var board = new StressOwner.Board(channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096));
      readUntilDone(device, board, owner, counts);
      assertThat(board.rounds()).isGreaterThanOrEqualTo(rounds);
    } finally {
      owner.destroyForcibly().onExit().join();
    }
    System.out.println("reads by outcome: " + counts);
    assertThat(hasEnough(counts)).as("%s", counts).isTrue();
    assertThat(counts).hasSize(2);
  }

  private static boolean hasEnough(Map<WorkStatus, Integer> counts) {
    return counts.getOrDefault(WorkStatus.SUCCESS, 0) > ENOUGH
        && counts.getOrDefault(WorkStatus.REMOTE_ACCESS_ERROR, 0) > ENOUGH;
  }

  private static void readUntilDone(
      SoftDevice device, StressOwner.Board board, Process owner, Map<WorkStatus, Integer> counts)
      throws Exception {
    try (var domain = device.allocateProtectionDomain();
        var memory = device.allocate(LENGTH);
        var sink = domain.register(memory, 0, LENGTH, SINK)) {
      String name =
          new String(owner.getInputStream().readNBytes(64), StandardCharsets.US_ASCII).strip();
      var peer = new RemoteDevice(device.directory.peer(name), true, 1);
      var outcome = new AtomicReference<WorkStatus>();
      var entry = new WorkEntry(1);
      var request = new WorkRequest(1);
      ByteBuffer bytes = memory.slice(0, LENGTH);
      byte[] brought = new byte[LENGTH];
      byte[] expected = new byte[LENGTH];
      long refused = 0;
      boolean enough = false;
      while (!board.isDone()) {
        if (!board.read() || board.version() == refused) {
          Thread.onSpinWait();
          continue;
        }
        request.read(1, board.address(), board.key()).local(sink, 0, LENGTH);
        entry.fill(request);
        device.loop.call(
            () ->
                outcome.set(
                    peer.copy(
                        StressOwner.QUEUE_PAIR,
                        entry,
                        entry.remoteKey,
                        entry.remoteAddress,
                        LENGTH,
                        RegionAccess.REMOTE_READ)));
        WorkStatus status = outcome.get();
        entry.clear();
        counts.merge(status, 1, Integer::sum);
        if (!enough && hasEnough(counts)) {
          enough = true;
          board.reportEnough();
        }
        if (status != WorkStatus.SUCCESS) {
          refused = board.version();
        } else {
          bytes.get(0, brought);
          Arrays.fill(expected, board.value());
          assertThat(brought).isEqualTo(expected);
        }
      }
      peer.close();
    }
  }
}
