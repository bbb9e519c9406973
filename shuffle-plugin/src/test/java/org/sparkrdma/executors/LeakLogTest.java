// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.executors.HeldResources.Leak;
import org.sparkrdma.executors.HeldResources.Owner;

@Timeout(60)
final class LeakLogTest {
  private static final String LEASE =
      "lease acquired by thread rdma-disk-0-1\n\tat a.Lease.begin(1)";
  private static final String RESERVATION =
      "reservation acquired by thread rdma-agent\n\tat b.C.d(2)";

  @TempDir private Path directory;

  @Test
  void shouldFailWithThePlaceOfALeak() throws IOException {
    putDriver(2);
    put("0", LeakLog.State.JUDGED);
    put(
        "1",
        LeakLog.State.JUDGED,
        new Leak(Owner.PEER, 3, LEASE),
        new Leak(Owner.TASK, 1, RESERVATION));

    assertThat(objections())
        .containsExactly(
            "leaked 3: application=app-1_x executor=1 " + LEASE,
            "leaked 1: application=app-1_x executor=1 " + RESERVATION);
  }

  @Test
  void shouldFailWhenExecutorsRanAndNoneHasWrittenAFile() throws IOException {
    putDriver(2);

    assertThat(objections())
        .containsExactly(
            "no executor was judged: ran=2 running=0 in_task=0 without_records=0 without_plugin=0 judged=0");
  }

  @Test
  void shouldAllowLeasesOnlyOfPeersThatEndedInATask() throws IOException {
    put("0", LeakLog.State.IN_TASK);
    put(
        "1",
        LeakLog.State.JUDGED,
        new Leak(Owner.PEER, 1, LEASE),
        new Leak(Owner.TASK, 1, RESERVATION));
    Files.writeString(
        directory.resolve("app-2_0_12"),
        executor("0", LeakLog.State.JUDGED, new Leak(Owner.PEER, 2, LEASE)));

    assertThat(objections())
        .containsExactly(
            "leaked 1: application=app-1_x executor=1 " + RESERVATION,
            "leaked 2: application=app-2 executor=0 " + LEASE);
  }

  private List<String> objections() throws IOException {
    return LeakLog.read(directory).objections();
  }

  private void putDriver(int executors) throws IOException {
    Files.writeString(directory.resolve("app-1_x_driver_9"), LeakLog.driverText(executors));
  }

  private void put(String id, LeakLog.State state, Leak... leaks) throws IOException {
    Files.writeString(directory.resolve("app-1_x_" + id + "_1" + id), executor(id, state, leaks));
  }

  private static String executor(String id, LeakLog.State state, Leak... leaks) {
    return new LeakLog.Executor(new ProcessName("app", id, 1), state, List.of(leaks)).text();
  }
}
