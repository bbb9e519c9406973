// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.shuffle.tools.engines.CardsEngine.port;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.device.PortState;

/** Several devices, healthy and sick, under several settings. */
@Timeout(60)
class AllDevicesProbeTest {
  @TempDir private Path directory;
  private final CardsEngine engine = new CardsEngine();
  private final Map<String, String> settings = new TreeMap<>();

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldOpenEachDeviceAndGoOnAfterASickOne() throws Exception {
    engine
        .card("mlx5_0", port(1, PortState.ACTIVE, "10.2.0.5"))
        .fails("mlx5_0", "ibv_open_device failed: errno=5 (Input/output error)")
        .card(
            "mlx5_1",
            port(1, PortState.ACTIVE, "10.3.0.5", "fd99::5"),
            port(2, PortState.DOWN, "10.4.0.5"),
            port(3, PortState.ACTIVE, "10.5.0.5"));
    List<PortProbe> ports = probe();
    assertThat(ports)
        .extracting(PortProbe::name)
        .containsExactly("mlx5_0 port 1", "mlx5_1 port 1", "mlx5_1 port 3");
    assertThat(ports.get(0).failure())
        .contains("ibv_open_device failed: errno=5 (Input/output error)");
    assertThat(ports.get(0).directories()).isEmpty();
    assertThat(ports.subList(1, 3)).allMatch(PortProbe::usable);
    assertThat(ports.get(1).addresses()).hasToString("[10.3.0.5/24, fd99:0:0:0:0:0:0:5/24]");
    assertThat(ports.get(1).directories()).isEqualTo(Map.of(directory, Optional.empty()));
    assertThat(ports).allMatch(port -> port.exclusion().isEmpty());
    assertThat(engine.opened()).containsExactly("mlx5_0", "mlx5_1");
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldNameWhatAPortLacks() throws Exception {
    engine
        .card("mlx5_0", port(1, PortState.DOWN, "10.2.0.5"), port(2, PortState.DOWN))
        .card("mlx5_1", port(1, PortState.ACTIVE, "127.0.0.1"));
    List<PortProbe> ports = probe();
    assertThat(ports).noneMatch(PortProbe::usable);
    assertThat(ports.get(0).port()).isEqualTo(OptionalInt.empty());
    assertThat(ports.get(0).name()).isEqualTo("mlx5_0");
    assertThat(ports.get(0).failure())
        .contains("all ports are down: port 1 state=DOWN, port 2 state=DOWN");
    assertThat(ports.get(1).failure()).contains("it has no usable address: addresses=127.0.0.1");
    assertThat(engine.opened()).containsExactly("mlx5_0", "mlx5_1");
  }

  @Test
  void shouldOpenWhatTheSettingsExcludeAndNameThem() throws Exception {
    settings.put("spark.shuffle.rdma.device", "mlx5_0");
    settings.put("spark.shuffle.rdma.device.port", "1");
    settings.put("spark.shuffle.rdma.listen.address", "10.2.0.0/16");
    engine
        .card(
            "mlx5_0", port(1, PortState.ACTIVE, "10.2.0.5"), port(2, PortState.ACTIVE, "10.2.0.6"))
        .card("mlx5_1", port(1, PortState.ACTIVE, "10.3.0.5"))
        .card("mlx5_2", port(1, PortState.DOWN));
    List<PortProbe> ports = probe();
    assertThat(ports.subList(0, 3)).allMatch(PortProbe::usable);
    assertThat(ports)
        .extracting(PortProbe::exclusion)
        .containsExactly(
            Optional.empty(),
            Optional.of("spark.shuffle.rdma.device.port=1"),
            Optional.of(
                "spark.shuffle.rdma.device=mlx5_0, spark.shuffle.rdma.listen.address=10.2.0.0/16"),
            Optional.of("spark.shuffle.rdma.device=mlx5_0"));
  }

  @Test
  void shouldReturnNothingWithoutADevice() throws Exception {
    assertThat(probe()).isEmpty();
  }

  private List<PortProbe> probe() throws Exception {
    return new AllDevicesProbe(
            ShuffleSettings.of(settings),
            new SparkSettings(settings),
            InetAddress.getByName("10.2.0.5"),
            address -> new NetworkAddress(address, 24))
        .run(engine, new SystemFiles(Path.of("/")), List.of(directory));
  }
}
