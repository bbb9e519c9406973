// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.doctor.Doctor;
import org.sparkrdma.shuffle.tools.doctor.FakeMachine;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.ibverbs.ScriptedDevice;
import org.sparkrdma.verbs.ibverbs.ScriptedEngine;

/** What doctor says of a scripted device, which it opens by the ibverbs engine. */
@Tag("slow")
@Timeout(60)
class ScriptedProbeTest {
  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  private static final String PREFIX = "spark.shuffle.rdma.";

  @TempDir private Path root;
  @TempDir private Path directory;

  /** Registers files in the directory, on a machine with this kernel. */
  private Doctor.Report doctor(String release, Map<String, String> more) {
    FakeMachine machine =
        new FakeMachine(root)
            .file("proc/sys/kernel/osrelease", release)
            .file("proc/meminfo", "MemTotal: 16777216 kB")
            .variable("SPARK_LOCAL_DIRS", directory.toString());
    Map<String, String> settings = new HashMap<>(more);
    settings.put(PREFIX + "pinned.max", "64m");
    EngineProbe probe =
        new EngineProbe(
            ShuffleSettings.of(settings),
            new SparkSettings(settings),
            InetAddress.getLoopbackAddress(),
            new SystemFiles(root),
            List.of(directory),
            () -> new Verbs.Choice(ScriptedEngine.over(DEVICE.library()), List.of()));
    return machine.probe(probe.run()).report();
  }

  @ParameterizedTest(name = "Linux {0} on a device that pins files for writing: {1}")
  @CsvSource({
    "6.12.117, 0, OK, A file there was registered: registration of 1 MiB ",
    "5.14.0-570.el9, 0, OK, 'A file there was registered: Linux 5.14.0-570.el9 does not write"
        + " registered files of ext4 again, as a trial shows; registration of 1 MiB '",
    "6.12.117, 1, WARNING, 'Files there are not registered, so blocks are copied: Linux 6.12.117"
        + " would write registered files of ext4 again, as a trial shows: ibv_reg_mr failed:"
        + " errno=14 ('"
  })
  void shouldNameATrialThatSaysOtherwiseThanTheVersion(
      String release, int writePins, String level, String words) {
    DEVICE.library().limit("write_pins", writePins);
    Doctor.Report report = doctor(release, Map.of());
    assertThat(report.usable()).as(report.summary()).isTrue();
    assertThat(report.findings().get("local directories"))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.level()).hasToString(level);
              assertThat(finding.message()).contains(words);
            });
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  @DisplayName("the vendor id of hns, whose driver was not seen to withhold access")
  void shouldUseADriverThatIsNotKnownOnATrustedFabricOnly() {
    DEVICE.library().limit("vendor", 0x19e5);
    assertThat(doctor("6.12.117", Map.of()).summary())
        .startsWith("RDMA will not be used: device scripted0 may give a peer remote access")
        .contains("(vendor_id=0x19e5, ./card shows it); set " + PREFIX + "fabric.trusted=true");
    assertThat(doctor("6.12.117", Map.of(PREFIX + "fabric.trusted", "true")).summary())
        .startsWith("RDMA will be used: device scripted0 port 1 of engine ibverbs");
  }
}
