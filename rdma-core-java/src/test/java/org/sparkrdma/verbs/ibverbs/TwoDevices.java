// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.VerbsContract;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.TransportType;

/** A machine with two devices. Runs in the guest, with both transports. */
class TwoDevices extends VerbsContract {
  @Override
  protected EngineUnderTest engine() {
    return IbverbsUnderTest.on("GUEST_ROCEV2_ADDRESS", Deviation.OF_ROCE);
  }

  private static InetSocketAddress otherDeviceAddress() throws Exception {
    return new InetSocketAddress(InetAddress.getByName(System.getenv("GUEST_IWARP_ADDRESS")), 1);
  }

  @Test
  void shouldDistinguishTransports() throws Exception {
    assertThat(load(java.util.Map.of()).devices())
        .extracting(DeviceInfo::transport)
        .containsExactlyInAnyOrder(TransportType.INFINIBAND, TransportType.IWARP);
  }

  @Test
  void shouldNotQueryAttributesThatADeviceHasReported() throws Exception {
    VerbsEngine engine = load(java.util.Map.of());
    for (DeviceInfo listed : engine.devices()) {
      try (Device device = engine.open(listed)) {
        assertThat(device.info()).isSameAs(listed);
      }
    }
  }

  @Test
  void shouldNotResolveAnAddressReachedThroughAnotherDevice() throws Exception {
    client.resolve(otherDeviceAddress());
    ConnectionEvent failed = event(client, ConnectionEvent.Type.RESOLVE_FAILED);
    assertThat(failed.reason()).contains("another device", "wanted=" + client.device.info().name());
  }

  @Test
  void shouldNotListenOnAnAddressOfAnotherDevice() throws Exception {
    InetSocketAddress address = otherDeviceAddress();
    assertThatThrownBy(() -> client.manager.listen(address, 1))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("another device");
  }

  @Test
  void shouldNotListenOnAnAddressOfNoDevice() throws Exception {
    // An address of a network reserved for documentation.
    var address = new InetSocketAddress(InetAddress.getByName("192.0.2.1"), 0);
    assertThatThrownBy(() -> client.manager.listen(address, 1).close())
        .isInstanceOf(VerbsException.class);
  }
}
