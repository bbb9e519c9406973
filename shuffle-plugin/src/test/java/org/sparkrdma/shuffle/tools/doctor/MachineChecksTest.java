// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
    return card(name, "ibverbs", state, address);
  }

  private static DeviceInfo card(String name, String engine, PortState state, String address)
      throws Exception {
    PortInfo port =
        new PortInfo(1, state, 4_096, List.of(), List.of(InetAddress.getByName(address)));
    return new DeviceInfo(name, engine, TransportType.INFINIBAND, 1, null, Set.of(), List.of(port));
  }

  @Test
  void shouldNameAVariableThatTakesPostingAwayFromTasks() throws Exception {
    machine.usedOf(
        InetAddress.getByName("10.2.0.5"), List.of(card("mlx5_0", PortState.ACTIVE, "10.2.0.5")));
    assertThat(machine.findings(EngineCheck::run)).hasSize(1);
    machine.variable("MLX5_SINGLE_THREADED", "1");
    assertThat(machine.findings(EngineCheck::run))
        .last()
        .isEqualTo(
            "WARNING MLX5_SINGLE_THREADED is set, so each request wakes another thread first. |"
                + " unset MLX5_SINGLE_THREADED for executors");
  }

  @Test
  void shouldNotBlameAVariableForTheAgentsPostsOfDisni() throws Exception {
    machine.usedOf(
        InetAddress.getByName("10.2.0.5"),
        List.of(card("mlx5_0", "disni", PortState.ACTIVE, "10.2.0.5")));
    machine.variable("MLX5_SINGLE_THREADED", "1");
    assertThat(machine.findings(EngineCheck::run)).hasSize(1);
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
