// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests on directories like those of several kinds of machines. */
class MachineMemoryTest {
  private static final long GIB = 1L << 30;
  private static final String NONE_V1 = "9223372036854771712\n";

  @TempDir private Path root;

  private MachineMemory machine() {
    return MachineMemory.under(root, GIB, 8);
  }

  @Test
  void shouldReadTheSystemsFiles() throws IOException {
    write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\n");
    write("sys/fs/cgroup/memory.max", "8589934592\n");
    write("proc/self/limits", "Limit  Soft  Hard\nMax locked memory   65536  unlimited  bytes\n");
    assertThat(machine())
        .isEqualTo(
            new MachineMemory(
                OptionalLong.of(16 * GIB),
                OptionalLong.of(8 * GIB),
                OptionalLong.of(65_536),
                false,
                GIB,
                4_096,
                8,
                1));
  }

  @Test
  void shouldCountExecutorsOfTheHostButNotTheirShells() throws IOException {
    String backend = "org.apache.spark.executor.CoarseGrainedExecutorBackend";
    write("proc/10/cmdline", "java\0-cp\0" + "x".repeat(9_000) + "\0" + backend + "\0--cores\0001");
    write("proc/11/cmdline", "java\0" + backend.replace("Coarse", "YarnCoarse") + "\0");
    write("proc/12/cmdline", "bash\0-c\0exec java " + backend + "\0");
    write("proc/13/cmdline", "java\0org.apache.spark.deploy.worker.Worker\0");
    Files.createDirectories(root.resolve("proc/14"));
    assertThat(machine().executors()).isEqualTo(2);
  }

  @Test
  void shouldUseTheLowestLimitOfAllParentsInVersion2() throws IOException {
    write("proc/self/cgroup", "0::/kubepods.slice/pod1.slice/container\n");
    write("sys/fs/cgroup/kubepods.slice/memory.max", "" + 6 * GIB);
    write("sys/fs/cgroup/kubepods.slice/pod1.slice/memory.max", "" + 2 * GIB);
    write("sys/fs/cgroup/kubepods.slice/pod1.slice/container/memory.max", "max\n");
    assertThat(machine().containerBytes()).hasValue(2 * GIB);
    write("sys/fs/cgroup/kubepods.slice/memory.max", "" + GIB);
    assertThat(machine().containerBytes()).hasValue(GIB);
    write("sys/fs/cgroup/kubepods.slice/pod1.slice/container/memory.max", "1000000\n");
    assertThat(machine().containerBytes()).hasValue(1_000_000);
  }

  @Test
  void shouldUseTheLowestLimitOfAllParentsInVersion1() throws IOException {
    write("proc/self/cgroup", "7:cpu:/x\n4:hugetlb,memory:/docker/1\n");
    write("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "" + 3 * GIB);
    write("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "" + 2 * GIB);
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", NONE_V1);
    assertThat(machine().containerBytes()).hasValue(2 * GIB);
  }

  @Test
  void shouldReadLimitsOfGroupsHiddenByVersion1() throws IOException {
    write("proc/self/cgroup", "4:memory:/\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", NONE_V1);
    write("sys/fs/cgroup/memory/memory.stat", "cache 7\nhierarchical_memory_limit 1073741824\n");
    assertThat(machine().containerBytes()).hasValue(GIB);
  }

  @Test
  void shouldFindItsGroupWhereTheContainerHasOnlyThatMounted() throws IOException {
    write("proc/self/cgroup", "4:memory:/docker/abc\n0::/\n");
    write(
        "proc/self/mountinfo",
        """
        31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
        35 31 0:32 /docker/abc /sys/fs/cgroup/mem rw,nosuid - cgroup cgroup rw,memory
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
        """);
    write("sys/fs/cgroup/mem/memory.limit_in_bytes", "" + GIB);
    write("sys/fs/cgroup/unified/memory.max", "" + 2 * GIB);
    assertThat(machine().containerBytes()).as("of both versions").hasValue(GIB);
    write("sys/fs/cgroup/mem/memory.limit_in_bytes", NONE_V1);
    assertThat(machine().containerBytes()).as("of version 2").hasValue(2 * GIB);
  }

  @Test
  void shouldFindAGroupWhoseNameIsNotUtf8BesideSuchAMount() throws IOException {
    Path group = Path.of(URI.create(root.toUri() + "sys/fs/c%20g/caf%E9"));
    Files.createDirectories(group);
    Files.writeString(group.resolve("memory.max"), "" + GIB);
    writeBytes("proc/self/cgroup", "0::/caf\u00e9\n");
    writeBytes(
        "proc/self/mountinfo",
        """
        31 23 0:28 / /caf\u00e9 rw - tmpfs tmpfs rw,mode=755
        41 31 0:38 / /sys/fs/c\\040g rw,relatime - cgroup2 cgroup2 rw
        """);
    assertThat(machine().containerBytes()).hasValue(GIB);
  }

  private void writeBytes(String file, String text) throws IOException {
    Files.createDirectories(root.resolve(file).getParent());
    Files.write(root.resolve(file), text.getBytes(StandardCharsets.ISO_8859_1));
  }

  @Test
  void shouldFindItsGroupInItsOwnNamespace() throws IOException {
    write("proc/self/cgroup", "0::/\n");
    write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup ro\n");
    write("sys/fs/cgroup/memory.max", "" + GIB);
    assertThat(machine().containerBytes()).hasValue(GIB);
  }

  @ParameterizedTest
  @CsvSource({"0::/../other, 0::/..", "0::/a/../../.., 4:memory:/../x"})
  void shouldNotLeaveTheHierarchyForAGroupOutsideOfIt(String first, String second)
      throws IOException {
    write("proc/self/cgroup", first + "\n" + second + "\n");
    write("sys/fs/cgroup/memory.max", "" + GIB);
    write("memory.max", "1");
    write("sys/fs/memory.max", "1");
    assertThat(machine().containerBytes()).hasValue(GIB);
  }

  @Test
  void shouldRecognizeUnlimitedValues() throws IOException {
    write("sys/fs/cgroup/memory.max", "max\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", NONE_V1);
    write("proc/self/limits", "Max locked memory         unlimited  unlimited  bytes\n");
    assertThat(machine().physicalBytes()).isEmpty();
    assertThat(machine().containerBytes()).isEmpty();
    assertThat(machine().lockableBytes()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"18446744073709551615", "99999999999999999999", "''", "nonsense"})
  void shouldIgnoreUnusableNumbers(String text) throws IOException {
    write("sys/fs/cgroup/memory.max", text + "\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", text + "\n");
    assertThat(machine().containerBytes()).isEmpty();
  }

  @Test
  void shouldUseTheSoftLimitOfLockedMemory() throws IOException {
    write("proc/self/limits", "Max locked memory         unlimited  8388608  bytes\n");
    assertThat(machine().lockableBytes()).as("unlimited until it is lowered").isEmpty();
    write("proc/self/limits", "Max locked memory         8388608  unlimited  bytes\n");
    assertThat(machine().memlockLimit()).hasValue(8_388_608);
  }

  @ParameterizedTest
  @CsvSource({
    "000001ffffffffff, 0 0 4294967295, true",
    "0000000000004000, 0 0 4294967295, true",
    "00000000a80425fb, 0 0 4294967295, false",
    "000001ffffffffff, 0 1000 1, false",
  })
  void shouldIgnoreTheLimitWithTheCapabilityInTheInitialUserNamespace(
      String capabilities, String users, boolean free) throws IOException {
    write("proc/self/limits", "Max locked memory         65536  65536  bytes\n");
    write("proc/self/status", "Name:\tjava\nCapEff:\t" + capabilities + "\n");
    write("proc/self/uid_map", "         " + users.replace(" ", "          ") + "\n");
    assertThat(machine().locksUnlimited()).isEqualTo(free);
    assertThat(machine().memlockLimit().isEmpty()).isEqualTo(free);
    assertThat(machine().lockableBytes()).hasValue(65_536);
  }

  @Test
  void shouldIgnoreTheLimitWithTheCapabilityWhereTheKernelHasNoUserNamespaces() throws IOException {
    write("proc/self/limits", "Max locked memory         65536  65536  bytes\n");
    write("proc/self/status", "Name:\tjava\nCapEff:\t0000000000004000\n");
    assertThat(machine().locksUnlimited()).isTrue();
  }

  @Test
  void shouldFindThePageSizeOfThisMachine() {
    assertThat(Long.bitCount(MachineMemory.current().pageBytes())).isOne();
    assertThat(MachineMemory.current().physicalBytes()).isPresent();
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }
}
