// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.TransportType;

/** Checks of the machine and the verdict, on directories like the files of several machines. */
class MachineChecksTest {
  @TempDir private Path root;
  @TempDir private Path directory;
  private FakeMachine machine;

  @BeforeEach
  void create() {
    machine = new FakeMachine(root);
  }

  private void delete(String name) {
    assertThat(root.resolve(name).toFile().delete()).isTrue();
  }

  private void link(String name, String target) throws IOException {
    Files.createSymbolicLink(root.resolve(name), Path.of(target));
  }

  @Test
  void shouldExplainABareMachine() {
    Doctor.Report report = machine.report();
    assertThat(report.usable()).isFalse();
    assertThat(report.summary()).isEqualTo("RDMA will not be used: ibverbs: no RDMA device");
    assertThat(report.steps())
        .first()
        .satisfies(step -> assertThat(step.advice()).contains("rdma link add rxe0 type rxe"));
  }

  @Test
  void shouldLeaveOutChecksOfHardwareWhenTheDeviceOfAnyEngineIsLoopback() {
    machine.device("fourth", TransportType.LOOPBACK);
    assertThat(machine.report().findings())
        .doesNotContainKeys("ports", "arp", "loss and congestion")
        .containsKeys("settings", "system", "local directories", "engine");
  }

  @Test
  void shouldChooseAmongSeveralCards() throws Exception {
    machine.usedOf(
        InetAddress.getByName("10.2.0.5"),
        List.of(
            card("mlx5_0", PortState.DOWN, "10.2.0.5"),
            card("mlx5_2", PortState.ACTIVE, "10.3.0.5"),
            card("mlx5_1", PortState.ACTIVE, "10.2.0.5")));
    assertThat(machine.report().summary())
        .startsWith("RDMA will be used: device mlx5_1 port 1 of engine ");
  }

  private static DeviceInfo card(String name, PortState state, String address) throws Exception {
    PortInfo port =
        new PortInfo(1, state, 4_096, List.of(), List.of(InetAddress.getByName(address)));
    return new DeviceInfo(
        name, "ibverbs", TransportType.INFINIBAND, 1, null, Set.of(), List.of(port));
  }

  @Test
  void shouldAdviseHowToRaiseALimitOfLockedMemoryThatIsTooSmall() {
    machine.memlock("65536", "131072");
    assertThat(machine.findings(MachineChecks::lockedMemory))
        .last()
        .asString()
        .startsWith(
            "PROBLEM This process may lock 65536 bytes. That is too little for any RDMA; an"
                + " executor uses up to 536870912 bytes (512 MiB). | let executors lock 536870912"
                + " bytes");
    machine.device("fourth", TransportType.LOOPBACK);
    assertThat(machine.findings(MachineChecks::lockedMemory)).last().asString().startsWith("NOTE ");
  }

  @Test
  void shouldWarnOfALimitBelowWhatAnExecutorUses() {
    machine.memlock("134217728", "134217728");
    assertThat(machine.findings(MachineChecks::lockedMemory))
        .last()
        .asString()
        .startsWith("WARNING This process may lock 134217728 bytes. With less, more blocks use TCP")
        .contains("ulimit -l");
    assertThat(machine.memlock("unlimited", "unlimited").findings(MachineChecks::lockedMemory))
        .allMatch(text -> text.startsWith("OK "));
  }

  @Test
  void shouldReportHowManyFilesAnExecutorMayOpen() throws Exception {
    Files.createDirectories(root.resolve("proc/self/fd/0"));
    machine.file("proc/self/limits", "Max open files   1024   4096   files\n");
    assertThat(machine.findings(MachineChecks::openFiles))
        .containsExactly("OK This process may open 1023 more files. | nothing");
    machine.file("proc/self/limits", "Max open files   256   4096   files\n");
    assertThat(machine.findings(MachineChecks::openFiles))
        .containsExactly(
            "WARNING This process may open 255 more files. An executor starts RDMA only with 64"
                + " free. | let executors open 4096 files or more (ulimit -n)");
    machine.file("proc/self/limits", "Max open files   64   4096   files\n");
    assertThat(machine.report().reasons())
        .anyMatch(text -> text.startsWith("This process may open 63 more files."));
  }

  /** A NUL is a character that no locale has in names of files. */
  @Test
  void shouldReportALocalDirectoryThatThisLocaleCannotName() {
    machine.setting("spark.local.dir", "/tmp/a\0b, " + root);
    assertThat(machine.report().reasons())
        .contains("The locale of this process has no bytes for the local directory /tmp/a\0b");
    assertThat(machine.findings(MachineChecks::localDirectories)).hasSize(1);
  }

  @Test
  void shouldWarnWhenMappingsDoNotSufficeForTheMemoryThatMayBePinned() {
    machine.file("proc/sys/vm/max_map_count", "100\n");
    assertThat(machine.findings(MachineChecks::mappings))
        .containsExactly(
            "WARNING 100 mappings are too few for the memory that may be pinned. | run: sysctl -w"
                + " vm.max_map_count=512");
    String ofKernel = new SystemFiles(Path.of("/")).text("proc/sys/vm/max_map_count").get();
    assertThat(Integer.parseInt(ofKernel)).isGreaterThan(9);
    machine.file("proc/sys/vm/max_map_count", "65530\n");
    assertThat(machine.findings(MachineChecks::mappings)).isEmpty();
  }

  @Test
  void shouldReportWhetherADeviceRegisteredAFile() {
    assertThat(local(directory))
        .isEqualTo("OK " + directory + " is on ext4. No file was registered there. | nothing");
    machine.registered(Map.of(directory, Optional.empty()));
    assertThat(local(directory))
        .isEqualTo("OK " + directory + " is on ext4. A file there was registered. | nothing");
    machine.registered(Map.of(directory, Optional.of("the reason")));
    assertThat(local(directory))
        .isEqualTo(
            "WARNING "
                + directory
                + " is on ext4. Files there are not registered, so blocks are copied: the reason |"
                + " use Linux 6.2 or newer, and ext4 or xfs for spark.local.dir");
  }

  @Test
  void shouldNoteThatSparkCreatesAMissingDirectory() {
    assertThat(local(directory.resolve("a"))).startsWith("NOTE ").contains("Spark creates it");
    assertThat(machine.report().reasons()).noneMatch(reason -> reason.contains("directories"));
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldGiveTheReasonAgainstRdmaOnlyWhereNoDirectoryIsLeft() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "");
    String reason = "Spark can write in none of its local directories";
    assertThat(local(file))
        .startsWith("PROBLEM This user cannot write in " + file + ", so Spark leaves it out. | ");
    assertThat(machine.report().reasons()).contains(reason);
    machine.setting("spark.local.dir", file + "," + directory);
    assertThat(machine.report().reasons()).doesNotContain(reason);
  }

  private String local(Path of) {
    return machine
        .setting("spark.local.dir", of.toString())
        .findings(MachineChecks::localDirectories)
        .get(0);
  }
}
