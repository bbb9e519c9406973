// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ScriptedDevice;
import org.sparkrdma.verbs.ibverbs.ScriptedEngine;

/** What is registered before a connection, on the ibverbs engine. */
@Tag("slow")
class ReadMeterTest {
  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  @TempDir private Path root;
  @TempDir private Path directory;

  private SystemFiles system(String fileSystem) throws IOException {
    Files.createDirectories(root.resolve("proc/self"));
    Files.createDirectories(root.resolve("proc/sys/kernel"));
    Files.writeString(root.resolve("proc/sys/kernel/osrelease"), "6.1.192\n");
    Files.writeString(
        root.resolve("proc/self/mountinfo"),
        "22 1 0:18 / / rw - " + fileSystem + " server:/export rw\n");
    return new SystemFiles(root);
  }

  private final List<CardPrices.Registration> measured = new ArrayList<>();

  private void register(String fileSystem) throws Exception {
    try (VerbsEngine engine = ScriptedEngine.over(DEVICE.library());
        Device device = engine.open(ScriptedEngine.DEVICE);
        ReadMeter meter = new ReadMeter(device)) {
      meter.registrations(directory, system(fileSystem), measured);
    }
  }

  /** One registration is the meter's own memory, one the mapping that cannot be written. */
  @ParameterizedTest
  @CsvSource({
    "nfs4, 2, 'files are not registered here, so blocks are copied: Linux 6.1.192 would write'",
    "ext4, 3, 'would write registered files of ext4 again, as a trial shows'"
  })
  void shouldNotRegisterWhatTheKernelWouldWriteAgain(String type, int calls, String reason) {
    DEVICE.library().limit("write_pins", 1);
    long before = DEVICE.library().calls("ibv_reg_mr");
    assertThatThrownBy(() -> register(type))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(reason);
    assertThat(DEVICE.library().calls("ibv_reg_mr") - before).isEqualTo(calls);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldMeasureRegistrationsOfNfsWhereTheKernelPinsForReading() throws Exception {
    register("nfs4");
    assertThat(measured).hasSize(3);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldSayWhichLengthTheLimitOfLockedMemoryRefuses() {
    DEVICE.library().limit("memlock", 8 << 20);
    assertThatThrownBy(() -> register("ext4"))
        .isInstanceOf(VerbsException.class)
        .hasMessageStartingWith(
            "a file of 16 MiB cannot be registered: ibv_reg_mr failed: errno=12 (")
        .hasMessageContaining(" memlockLimit=");
    assertThat(measured).extracting("bytes").containsExactly(64 << 10, 1 << 20);
    assertThat(directory).isEmptyDirectory();
  }
}
