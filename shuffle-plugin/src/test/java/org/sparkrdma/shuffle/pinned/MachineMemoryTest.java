// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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

  /** The limit of the control groups of a host with much memory. */
  private long limit() throws IOException {
    write("proc/meminfo", "MemTotal:  1073741824 kB\n");
    assertThat(machine().contained()).isTrue();
    return machine().bytes();
  }

  @Test
  void shouldUseTheLowestLimitOfAllParentsInVersion2() throws IOException {
    write("proc/self/cgroup", "0::/kubepods.slice/pod1.slice/container\n");
    write("sys/fs/cgroup/kubepods.slice/memory.max", "" + 6 * GIB);
    write("sys/fs/cgroup/kubepods.slice/pod1.slice/memory.max", "" + 2 * GIB);
    write("sys/fs/cgroup/kubepods.slice/pod1.slice/container/memory.max", "max\n");
    assertThat(limit()).isEqualTo(2 * GIB);
    write("sys/fs/cgroup/kubepods.slice/memory.max", "" + GIB);
    assertThat(limit()).isEqualTo(GIB);
    write("sys/fs/cgroup/kubepods.slice/memory.high", "" + GIB / 2);
    assertThat(limit()).as("the kernel slows the group down above it").isEqualTo(GIB / 2);
    write("sys/fs/cgroup/kubepods.slice/pod1.slice/container/memory.max", "1000000\n");
    assertThat(limit()).isEqualTo(1_000_000);
  }

  @Test
  void shouldReadLimitsOfGroupsHiddenByVersion1() throws IOException {
    write("proc/self/cgroup", "4:memory:/\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", NONE_V1);
    write("sys/fs/cgroup/memory/memory.stat", "cache 7\nhierarchical_memory_limit 1073741824\n");
    assertThat(limit()).isEqualTo(GIB);
  }

  @Test
  void shouldFindItsGroupWhereTheContainerHasOnlyThatMounted() throws IOException {
    write("proc/self/cgroup", "4:memory:/docker/abc\n0::/docker/abc\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "" + GIB);
    write("sys/fs/cgroup/memory.max", "" + 2 * GIB);
    assertThat(limit()).as("of both versions").isEqualTo(GIB);
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", NONE_V1);
    assertThat(limit()).as("of version 2").isEqualTo(2 * GIB);
  }

  @ParameterizedTest
  @CsvSource({"0::/../other, 0::/..", "0::/a/../../.., 4:memory:/../x"})
  void shouldNotLeaveTheHierarchyForAGroupOutsideOfIt(String first, String second)
      throws IOException {
    write("proc/self/cgroup", first + "\n" + second + "\n");
    write("sys/fs/cgroup/memory.max", "" + GIB);
    write("memory.max", "1");
    write("sys/fs/memory.max", "1");
    assertThat(limit()).isEqualTo(GIB);
  }

  @ParameterizedTest
  @CsvSource({"18446744073709551615", "99999999999999999999", "''", "nonsense"})
  void shouldIgnoreUnusableNumbers(String text) throws IOException {
    write("sys/fs/cgroup/memory.max", text + "\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", text + "\n");
    write("proc/self/cgroup", "4:memory:/\n0::/\n");
    assertThat(machine().contained()).isFalse();
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
    assertThat(machine().lockableBytes())
        .isEqualTo(free ? OptionalLong.empty() : OptionalLong.of(65_536));
  }

  @Test
  void shouldDistinguishUnknownDescriptorsFromNone() throws IOException {
    write("proc/self/fd/0", "");
    assertThat(FileDescriptors.free(new SystemFiles(root))).as("no limits").isEmpty();
    write("proc/self/limits", "Max open files            128  4096  files\n");
    assertThat(FileDescriptors.free(new SystemFiles(root))).hasValue(127);
    Files.delete(root.resolve("proc/self/limits"));
    write("proc/self/limits/file", "");
    assertThat(FileDescriptors.free(new SystemFiles(root))).as("no descriptor").hasValue(0);
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }
}
