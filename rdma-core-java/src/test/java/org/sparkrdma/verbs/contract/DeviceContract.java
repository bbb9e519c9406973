// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.OpenResources;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.VerbsProvider;

/** Engines, devices and their attributes. */
public abstract class DeviceContract extends VerbsContract {
  private VerbsProvider provider() {
    return Verbs.providers().stream()
        .filter(p -> p.name().equals(engine().name()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void shouldReportTheAttributesOfItsDevice() {
    DeviceInfo info = client.device.info();
    assertThat(info.name()).isNotEmpty();
    assertThat(info.engine()).isEqualTo(engine().name());
    assertThat(info.transport()).isNotNull();
    assertThat(info.ports()).isNotEmpty();
    assertThat(info.ports().get(0).number()).isEqualTo(1);
    assertThat(info.ports()).anyMatch(port -> port.state() == PortState.ACTIVE);
    assertThat(info.ports().get(0).activeMtuBytes() > 0)
        .isNotEqualTo(engine().deviates(Deviation.MTU_IS_UNKNOWN));
    assertThat(info.ports().get(0).gids()).isNotEmpty();
    assertThat(info.ports().get(0).addresses()).contains(engine().address());
  }

  @Test
  void shouldReportUsableLimits() {
    DeviceLimits limits = client.device.info().limits();
    assertThat(limits.maxQueuePairs()).isPositive();
    assertThat(limits.maxQueuePairDepth()).isGreaterThanOrEqualTo(Node.DEPTH);
    assertThat(limits.maxSge()).isGreaterThanOrEqualTo(limits.maxReadSge());
    assertThat(limits.maxReadSge()).isPositive();
    assertThat(limits.maxPrivateDataBytes())
        .isGreaterThanOrEqualTo(client.device.info().can(Capability.ACCEPT_PRIVATE_DATA) ? 56 : 0);
    assertThat(limits.maxMessageBytes()).isGreaterThanOrEqualTo(1L << 20);
  }

  @Test
  void shouldOpenADeviceByItsNameOnly() throws Exception {
    VerbsEngine engine = load(Map.of());
    assertThat(engine.name()).isEqualTo(engine().name());
    assertThatThrownBy(() -> engine.open("no such device")).isInstanceOf(VerbsException.class);
  }

  @Test
  void shouldOpenAListedDevice() throws Exception {
    VerbsEngine engine = load(Map.of());
    for (DeviceInfo listed : engine.devices()) {
      try (Device device = engine.open(listed)) {
        assertThat(device.info()).isEqualTo(listed);
      }
    }
  }

  @Test
  void shouldCloseOpenDevicesWithTheEngine() throws Exception {
    VerbsEngine engine = load(Map.of());
    Node node = open(engine);
    node.block(100, 1, Node.READABLE);
    node.listen(engine());
    engine.close();
    engine.close();
    assertThat(node.device.openResources()).isEqualTo(OpenResources.NONE);
    assertThatThrownBy(() -> node.device.allocate(1)).isInstanceOf(IllegalStateException.class);
    node.close();
  }

  @Test
  void shouldCountOpenResources() throws Exception {
    assertThat(client.device.openResources())
        .isEqualTo(new OpenResources(1, 0, 0, 1, 1, 0, 1, 0, 0));
    Pair pair = connect();
    Node.Block block = client.block(100, 1, Node.READABLE);
    assertThat(client.device.openResources())
        .isEqualTo(new OpenResources(1, 1, 1, 1, 1, 1, 1, 0, 1));
    block.region().close();
    block.memory().close();
    pair.clientEnd().close();
    pair.clientEnd().close();
    client.manager.close();
    client.manager.close();
    assertThat(client.device.openResources())
        .isEqualTo(new OpenResources(1, 0, 0, 1, 1, 0, 0, 0, 0));
  }

  @Test
  void shouldRefuseQueuePairsOverTheLimits() throws Exception {
    DeviceLimits limits = client.device.info().limits();
    try (Listener listener = server.listen(engine())) {
      Connection connection = client.resolve(listener.address());
      event(client, ConnectionEvent.Type.RESOLVED);
      assertRefused(connection, limits.maxQueuePairDepth() + 1, 1);
      assertRefused(connection, 1, limits.maxSge() + 1);
    }
  }

  private void assertRefused(Connection connection, int depth, int sge) {
    var settings =
        new QueuePairSettings(client.queue, client.queue, depth, 1, sge, java.util.Set.of());
    assertThatThrownBy(() -> connection.createQueuePair(client.domain, settings))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldCreateACompletionQueueOnEachVector() throws Exception {
    int vectors = client.device.info().limits().completionVectors();
    assertThat(vectors).isPositive();
    for (int vector = 0; vector < Math.min(vectors, 8); vector++) {
      client.device.createCompletionQueue(1, null, vector).close();
    }
    for (int wrong : new int[] {-1, vectors}) {
      assertThatThrownBy(() -> client.device.createCompletionQueue(1, null, wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("completionVectors=" + vectors);
    }
  }

  @Test
  void shouldLeaveNothingOfATestedQueuePair() throws Exception {
    OpenResources before = client.device.openResources();
    client.domain.testQueuePair(client.settings());
    assertThat(client.device.openResources()).isEqualTo(before);
    int tooDeep = client.device.info().limits().maxQueuePairDepth() + 1;
    var settings =
        new QueuePairSettings(client.queue, client.queue, tooDeep, 1, 1, java.util.Set.of());
    assertThatThrownBy(() -> client.domain.testQueuePair(settings))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldListSettingsThatItAccepts() {
    Map<String, String> defaults = new TreeMap<>();
    for (EngineSetting setting : provider().settings()) {
      assertThat(setting.key()).startsWith(engine().name() + ".");
      assertThat(setting.meaning()).isNotEmpty();
      assertThat(setting.allowed()).isNotEmpty();
      defaults.put(setting.key(), setting.defaultValue());
    }
    provider().validate(EngineSettings.of(defaults));
  }

  @Test
  void shouldRefuseAnUnknownSetting() {
    String key = engine().name() + ".noSuchSetting";
    assertThatThrownBy(() -> provider().validate(EngineSettings.of(Map.of(key, "1"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(key);
    provider().validate(EngineSettings.of(Map.of("another.engines", "1")));
  }
}
