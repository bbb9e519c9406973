/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineMemoryTest {
  private static final long GIB = 1L << 30;

  @TempDir private Path root;

  @Test
  void shouldReadWhatTheSystemSays() throws IOException {
    write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\n");
    write("sys/fs/cgroup/memory.max", "8589934592\n");
    write("proc/self/limits", "Limit  Soft  Hard\nMax locked memory   65536  unlimited  bytes\n");
    assertThat(MachineMemory.under(root, GIB))
        .isEqualTo(
            new MachineMemory(
                OptionalLong.of(16 * GIB),
                OptionalLong.of(8 * GIB),
                OptionalLong.of(65_536),
                GIB,
                4_096));
  }

  @Test
  void shouldFindTheLimitOfItsOwnControlGroup() throws IOException {
    write("proc/self/cgroup", "0::/yarn/container_1\n");
    write("sys/fs/cgroup/yarn/container_1/memory.max", "2147483648\n");
    assertThat(MachineMemory.under(root, GIB).containerBytes()).hasValue(2 * GIB);
    write("proc/self/cgroup", "7:cpu:/x\n4:memory:/docker/1\n");
    write("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "1073741824\n");
    assertThat(MachineMemory.under(root, GIB).containerBytes()).hasValue(GIB);
  }

  @Test
  void shouldTakeNoLimitForNone() throws IOException {
    write("sys/fs/cgroup/memory.max", "max\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write("proc/self/limits", "Max locked memory         unlimited  unlimited  bytes\n");
    MachineMemory machine = MachineMemory.under(root, GIB);
    assertThat(machine.physicalBytes()).isEmpty();
    assertThat(machine.containerBytes()).isEmpty();
    assertThat(machine.lockableBytes()).isEmpty();
  }

  @Test
  void shouldFindThePageSizeOfThisMachine() {
    assertThat(Long.bitCount(MachineMemory.ofThisMachine().pageBytes())).isOne();
  }

  @Test
  void shouldTakeTheLeastAndSayHow() {
    MachineMemory machine = machine(16 * GIB, OptionalLong.of(3 * GIB), OptionalLong.of(GIB / 2));
    assertThat(PinnedLimit.of(Optional.empty(), machine, true).bytes()).isEqualTo(GIB / 2);
    PinnedLimit soft = PinnedLimit.of(Optional.empty(), machine, false);
    assertThat(soft.bytes()).isEqualTo(GIB);
    assertThat(soft.derivation()).contains("host memory 2048 MiB", "heap 1024 MiB");
  }

  @Test
  void shouldTakeAnEighthOfTheHostWithoutOtherLimits() {
    MachineMemory machine = machine(16 * GIB, OptionalLong.empty(), OptionalLong.empty());
    assertThat(PinnedLimit.of(Optional.empty(), machine, true).bytes()).isEqualTo(2 * GIB);
  }

  @Test
  void shouldLeaveALittleWhenTheHeapFillsTheContainer() {
    MachineMemory machine = machine(16 * GIB, OptionalLong.of(GIB / 2), OptionalLong.empty());
    PinnedLimit limit = PinnedLimit.of(Optional.empty(), machine, true);
    assertThat(limit.bytes()).isEqualTo(1 << 20);
    assertThat(limit.derivation()).endsWith("raised to 1 MiB");
  }

  @Test
  void shouldBelieveTheUser() {
    MachineMemory machine = machine(GIB, OptionalLong.empty(), OptionalLong.empty());
    assertThat(PinnedLimit.of(Optional.of(5 * GIB), machine, true).bytes()).isEqualTo(5 * GIB);
  }

  private static MachineMemory machine(
      long physical, OptionalLong container, OptionalLong lockable) {
    return new MachineMemory(OptionalLong.of(physical), container, lockable, GIB, 4_096);
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }
}
