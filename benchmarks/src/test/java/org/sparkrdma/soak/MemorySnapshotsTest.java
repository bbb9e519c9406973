// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.soak.MemorySnapshot.Moment;

class MemorySnapshotsTest {
  private static final String HANDLES_SIGQUIT = "2000000181005ccf";
  private static final String HANDLES_ALL_BUT_SIGQUIT = "fffffffffffffffb";
  private static final Map<String, Double> ACCOUNT = Map.of("Code", 30.0);

  @TempDir private Path processes;

  private final AtomicInteger jobs = new AtomicInteger();
  private final List<Long> asked = new ArrayList<>();
  private final List<String> log = new ArrayList<>();

  @Test
  void shouldBeDueAtTheEndOfTheWarmUpAndShortlyBeforeTheEnd() throws Exception {
    MemorySnapshots snapshots = snapshots(ACCOUNT);
    assertThat(snapshots.isDue(249)).isFalse();
    assertThat(snapshots.isDue(250)).isTrue();
    snapshots.take(250, List.of());
    assertThat(snapshots.isDue(994)).isFalse();
    assertThat(snapshots.isDue(995)).isTrue();
    snapshots.take(995, List.of());
    assertThat(snapshots.isDue(2_000)).isFalse();
  }

  @Test
  void shouldTakePagesWithoutTheHeapAndTheJvmsAccount() throws Exception {
    process(17, "--executor-id\0004\0", HANDLES_SIGQUIT);
    MemorySnapshots snapshots = snapshots(ACCOUNT);
    jobs.set(5);
    snapshots.take(251, List.of(17L));
    jobs.set(40);
    snapshots.take(995, List.of(17L));

    ResidentPages pages = new ResidentPages(384, 32, 16);
    assertThat(snapshots.all())
        .containsExactly(
            new MemorySnapshot(Moment.WARM_UP_END, 251, 5, "4", pages, ACCOUNT),
            new MemorySnapshot(Moment.END, 995, 40, "4", pages, ACCOUNT));
    assertThat(log).isEmpty();
  }

  @Test
  void shouldLogOneLineWhenTheJvmGivesNoAccountAndKeepThePages() throws Exception {
    process(17, "--executor-id\0004\0", HANDLES_SIGQUIT);
    MemorySnapshots snapshots = snapshots(null);
    snapshots.take(251, List.of(17L));

    assertThat(log)
        .containsExactly("no account of native memory from the JVM of executor 4: refused");
    assertThat(snapshots.all())
        .containsExactly(
            new MemorySnapshot(
                Moment.WARM_UP_END, 251, 0, "4", new ResidentPages(384, 32, 16), Map.of()));
  }

  @Test
  void shouldAskOnlyExecutorsThatHandleTheSignal() throws Exception {
    process(17, "-version\0", HANDLES_SIGQUIT);
    process(18, "--executor-id\0005\0", HANDLES_ALL_BUT_SIGQUIT);
    process(19, "--executor-id\0006\0", HANDLES_SIGQUIT);
    MemorySnapshots snapshots = snapshots(ACCOUNT);
    snapshots.take(251, List.of(17L, 18L, 19L, 20L));

    assertThat(asked).containsExactly(19L);
    assertThat(snapshots.all()).singleElement().matches(each -> each.executor().equals("6"));
  }

  /**
   * @param account null when each JVM refuses
   */
  private MemorySnapshots snapshots(Map<String, Double> account) {
    return new MemorySnapshots(
        processes,
        1_000,
        640,
        jobs::get,
        pid -> {
          asked.add(pid);
          if (account == null) {
            throw new IOException("refused");
          }
          return account;
        },
        log::add);
  }

  private void process(long pid, String arguments, String handlers) throws IOException {
    Path process = Files.createDirectory(processes.resolve(Long.toString(pid)));
    Files.writeString(process.resolve("cmdline"), "java\0" + arguments);
    Files.write(
        process.resolve("status"),
        List.of(
            "Name:\tjava",
            "VmRSS:\t 1097728 kB",
            "RssAnon:\t 1048576 kB",
            "RssFile:\t   32768 kB",
            "RssShmem:\t   16384 kB",
            "SigCgt:\t" + handlers));
  }
}
