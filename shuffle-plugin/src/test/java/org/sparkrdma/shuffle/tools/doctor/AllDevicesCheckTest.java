// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.tools.engines.PortProbe;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.Transport;

/** Findings of {@code doctor --all} on results of several devices. */
class AllDevicesCheckTest {
  private static final Path DIRECTORY = Path.of("/data");
  private static final Map<Path, Optional<String>> REGISTERED = Map.of(DIRECTORY, Optional.empty());

  @TempDir private Path root;
  private FakeMachine machine;

  @BeforeEach
  void create() throws Exception {
    machine = new FakeMachine(root);
    InetAddress spark = InetAddress.getByName("10.2.0.5");
    PortInfo port = new PortInfo(1, PortState.ACTIVE, 4_096, List.of(), List.of(spark));
    machine.usedOf(
        spark,
        List.of(
            new DeviceInfo(
                "mlx5_0", "ibverbs", Transport.INFINIBAND, 1, null, Set.of(), List.of(port))));
  }

  @Test
  void shouldFindNothingWithoutTheOption() {
    assertThat(machine.findings(new AllDevicesCheck())).isEmpty();
  }

  @Test
  void shouldReportEachPortAndKeepTheAnswerAboutTheChosenDevice() throws Exception {
    machine.all(
        port("mlx5_0", "10.2.0.5", Optional.empty(), REGISTERED, Optional.empty()),
        port(
            "mlx5_1", "10.2.0.6", Optional.of("open failed: errno=5"), Map.of(), Optional.empty()));
    assertThat(machine.findings(new AllDevicesCheck()))
        .satisfiesExactly(
            text ->
                assertThat(text)
                    .isEqualTo(
                        "OK mlx5_0 port 1 is usable at [10.2.0.5/24]: opened the device, registered"
                            + " memory, registered a file in each local directory. | nothing"),
            text ->
                assertThat(text)
                    .startsWith(
                        "WARNING mlx5_1 port 1 is not usable: open failed: errno=5. | run"
                            + " ibv_devinfo here: "));
    assertThat(machine.report().usable()).isTrue();
    assertThat(machine.report().summary())
        .startsWith("RDMA will be used: device mlx5_0 port 1 of engine ibverbs");
    assertThat(machine.report().findings().get("all devices")).hasSize(2);
  }

  @Test
  void shouldSayWhenTheSettingsExcludeAPort() throws Exception {
    Optional<String> exclusion = Optional.of("spark.shuffle.rdma.device=mlx5_0");
    machine.all(
        port("mlx5_1", "10.3.0.5", Optional.empty(), Map.of(), exclusion),
        port("mlx5_2", "10.3.0.6", Optional.of("it has no usable address"), Map.of(), exclusion));
    assertThat(machine.findings(new AllDevicesCheck()))
        .containsExactly(
            "NOTE mlx5_1 port 1 is usable at [10.3.0.5/24]: opened the device, registered memory."
                + " The settings exclude it: spark.shuffle.rdma.device=mlx5_0. | remove or change"
                + " that setting if executors shall use the port",
            "WARNING mlx5_2 port 1 is not usable: it has no usable address. The settings exclude it:"
                + " spark.shuffle.rdma.device=mlx5_0. | give the port an IP address that other hosts"
                + " can reach, then run this again");
  }

  @Test
  void shouldCountADirectoryInWhichNoFileWasWritten() throws Exception {
    machine
        .setting("spark.local.dir", DIRECTORY + ",/missing")
        .all(port("mlx5_0", "10.2.0.5", Optional.empty(), REGISTERED, Optional.empty()));
    assertThat(machine.findings(new AllDevicesCheck()))
        .singleElement()
        .asString()
        .contains("registered a file in 1 of 2 local directories.");
  }

  @Test
  void shouldReportADeviceThatRegistersNoFiles() throws Exception {
    Map<Path, Optional<String>> refused =
        Map.of(DIRECTORY, Optional.of("ibv_reg_mr failed: errno=14"), root, Optional.empty());
    machine
        .setting("spark.local.dir", DIRECTORY + "," + root)
        .all(port("mlx5_0", "10.2.0.5", Optional.empty(), refused, Optional.empty()));
    assertThat(machine.findings(new AllDevicesCheck()))
        .containsExactly(
            "WARNING mlx5_0 port 1 is usable at [10.2.0.5/24]: opened the device, registered memory,"
                + " registered a file in 1 of 2 local directories. Blocks are copied where files are"
                + " not registered: /data: ibv_reg_mr failed: errno=14. | use ext4 or xfs for"
                + " spark.local.dir");
  }

  @Test
  void shouldReportThatThereIsNoDevice() {
    assertThat(machine.all().findings(new AllDevicesCheck()))
        .containsExactly(
            "NOTE No device was opened: no engine runs or has a device. | solve the problems under"
                + " engine, then run this again");
  }

  @Test
  void shouldShowAllGidsOnlyWithTheOption() {
    machine.rxe();
    for (int index = 2; index < 12; index++) {
      machine.gid("rxe0", index, "01%02x".formatted(index));
    }
    assertThat(machine.findings(new PortsCheck()))
        .anyMatch(
            text ->
                text.contains("rxe0 port 1 has 12 GIDs: ")
                    && text.contains(", 7 RoCE v2 10.99.1.7, ... (--all shows all).")
                    && !text.contains("10.99.1.8"));
    machine.all();
    assertThat(machine.findings(new PortsCheck()))
        .anyMatch(
            text ->
                text.contains("rxe0 port 1 has 12 GIDs: ")
                    && text.contains(", 8 RoCE v2 10.99.1.8, ")
                    && text.endsWith(", 11 RoCE v2 10.99.1.11. | nothing"));
  }

  private static PortProbe port(
      String name,
      String address,
      Optional<String> failure,
      Map<Path, Optional<String>> directories,
      Optional<String> exclusion)
      throws Exception {
    DeviceInfo device =
        new DeviceInfo(name, "ibverbs", Transport.INFINIBAND, 1, null, Set.of(), List.of());
    NetworkAddress network = new NetworkAddress(InetAddress.getByName(address), 24);
    return new PortProbe(
        device, OptionalInt.of(1), List.of(network), failure, directories, exclusion);
  }
}
