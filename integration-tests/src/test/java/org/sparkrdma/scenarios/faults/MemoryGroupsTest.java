// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Control groups in directories like those of machines with version 1 and 2. The files of {@code
 * /proc} and of groups were written by kernels; here the test puts them where a kernel would.
 */
@Timeout(60)
class MemoryGroupsTest {
  private static final long LIMIT = 768L << 20;
  private static final String GROUPS = "sys/fs/cgroup";
  private static final String OWN = "limited-" + ProcessHandle.current().pid();

  @TempDir private Path root;
  private long gone;

  @BeforeEach
  void startAndEndAProcess() throws Exception {
    Process process = new ProcessBuilder("true").start();
    assertThat(process.waitFor()).isZero();
    gone = process.pid();
  }

  @ParameterizedTest
  @CsvSource({
    // A guest kernel, whose first process gives the memory controller to all groups.
    "0::/, '', memory rdma, ''",
    // A shell under systemd: its own group and that of its session have processes.
    "0::/user.slice/user-0.slice/session-1.scope, user.slice/user-0.slice/session-1.scope, '', user.slice/user-0.slice",
    // A container with a namespace for its groups.
    "0::/, '', cpu memory pids, ''"
  })
  void shouldLimitAProcessInVersion2(
      String ownLine, String own, String givenByOwn, String expectedAbove) throws Exception {
    mounts("27 23 0:24 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup rw");
    write("proc/self/cgroup", ownLine + "\n");
    Path groups = root.resolve(GROUPS);
    for (Path group = groups.resolve(own); group.startsWith(groups); group = group.getParent()) {
      Files.createDirectories(group);
      Files.writeString(group.resolve("cgroup.subtree_control"), "cpu memory pids\n");
    }
    Files.writeString(groups.resolve(own).resolve("cgroup.subtree_control"), givenByOwn + "\n");
    Path parent = groups.resolve(expectedAbove).resolve(OWN);

    MemoryGroups created = MemoryGroups.create(LIMIT, root).get();
    long pid = runLimited(created);

    assertThat(parent.resolve("cgroup.subtree_control")).content().isEqualTo("+memory");
    Path group = parent.resolve(Long.toString(pid));
    assertThat(group.resolve("memory.max")).content().isEqualTo(LIMIT + "\n");
    assertThat(group.resolve("cgroup.procs")).content().isEqualTo(pid + "\n");
    Files.writeString(group.resolve("memory.current"), "20832256\n");
    Files.writeString(
        group.resolve("memory.events"),
        "low 0\nhigh 0\nmax 79\noom 2\noom_kill 2\noom_group_kill 0\n");
    assertThat(created.usedBytes(pid)).isEqualTo(20_832_256);
    assertThat(created.timesAtLimit(pid)).isEqualTo(79);
    assertThat(created.killed(pid)).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({
    // A host with both versions, of which version 1 has the memory controller.
    "/, 4:memory:/service, service",
    // A container, which sees its own group as the root of the hierarchy.
    "/container/7f, 11:memory:/container/7f, ''",
    "/, 9:cpu;memory:/, ''"
  })
  void shouldLimitAProcessInVersion1(String mounted, String ownLine, String own) throws Exception {
    mounts(
        "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu",
        "35 31 0:32 " + mounted + " /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory",
        "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw");
    write("proc/self/cgroup", "1:name=systemd:/\n" + ownLine.replace(';', ',') + "\n0::/\n");
    Path above = Files.createDirectories(root.resolve(GROUPS).resolve("memory").resolve(own));
    Path parent = above.resolve(OWN);

    MemoryGroups created = MemoryGroups.create(LIMIT, root).get();
    long pid = runLimited(created);

    Path group = parent.resolve(Long.toString(pid));
    assertThat(group.resolve("memory.limit_in_bytes")).content().isEqualTo(LIMIT + "\n");
    assertThat(group.resolve("cgroup.procs")).content().isEqualTo(pid + "\n");
    Files.writeString(group.resolve("memory.usage_in_bytes"), "805306368\n");
    Files.writeString(group.resolve("memory.failcnt"), "40\n");
    Files.writeString(
        group.resolve("memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    assertThat(created.usedBytes(pid)).isEqualTo(805_306_368);
    assertThat(created.timesAtLimit(pid)).isEqualTo(40);
    assertThat(created.killed(pid)).isEqualTo(1);
  }

  @Test
  void shouldCreateNoneWhereNoGroupGivesTheMemoryController() throws Exception {
    mounts("41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw");
    write("proc/self/cgroup", "0::/service\n");
    write(GROUPS + "/cgroup.subtree_control", "cpu pids\n");
    write(GROUPS + "/service/cgroup.subtree_control", "\n");
    assertThat(MemoryGroups.create(LIMIT, root).isEmpty()).isTrue();
    assertThat(children(root.resolve(GROUPS).resolve("service")))
        .containsExactly("cgroup.subtree_control");
  }

  @Test
  void shouldRemoveGroupsOfProcessesThatAreGone() throws Exception {
    mounts("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
    write("proc/self/cgroup", "4:memory:/\n");
    Path above = Files.createDirectories(root.resolve(GROUPS).resolve("memory"));
    long living = ProcessHandle.current().parent().orElseThrow().pid();
    Files.createDirectories(above.resolve("limited-" + gone).resolve("1"));
    Files.createDirectories(above.resolve("limited-" + living).resolve("1"));
    Files.createDirectories(above.resolve("other-" + gone));
    Files.createDirectories(above.resolve("limited-x"));
    Files.createDirectories(above.resolve(Long.toString(gone)));

    MemoryGroups created = MemoryGroups.create(LIMIT, root).get();

    assertThat(children(above))
        .containsExactly(
            Stream.of(Long.toString(gone), "limited-" + living, OWN, "limited-x", "other-" + gone)
                .sorted()
                .toArray(String[]::new));
    assertThat(children(above.resolve("limited-" + living))).containsExactly("1");
    created.close();
    assertThat(children(above)).doesNotContain(OWN);
  }

  /** A file in a directory prevents its removal, like a process in a group. */
  @Test
  void shouldLeaveAGroupWithAProcess() throws Exception {
    mounts("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
    write("proc/self/cgroup", "4:memory:/\n");
    Path left = root.resolve(GROUPS).resolve("memory").resolve("limited-" + gone).resolve("1");
    Files.createDirectories(left);
    Files.writeString(left.resolve("cgroup.procs"), "1\n");

    MemoryGroups created = MemoryGroups.create(LIMIT, root).get();

    assertThat(left).exists();
    created.close();
  }

  /** Runs Java in a group of its own; returns its process number. */
  private static long runLimited(MemoryGroups groups) throws Exception {
    Process process =
        new ProcessBuilder(groups.javaHome().resolve("bin/java").toString(), "-version")
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output).contains("version");
    return process.pid();
  }

  private static List<String> children(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private void mounts(String... lines) throws IOException {
    write(
        "proc/self/mountinfo",
        "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n" + String.join("\n", lines) + "\n");
  }

  private void write(String file, String content) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, content);
  }
}
