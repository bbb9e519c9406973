// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.ProcessIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.spi.EngineSettings;

/** Peers of a device, by the first messages of their connections. */
class SoftPeersTest {
  @TempDir Path base;
  private SharedDirectory its;
  private SoftDevice device;
  private final byte[] secret = new byte[SharedTable.SECRET_BYTES];

  @BeforeEach
  void openDevice() throws IOException, VerbsException {
    HostIdentity host = HostIdentity.self();
    its = SharedDirectory.create(base, host, ProcessIdentity.self());
    SharedTable.create(its.path().resolve(SharedDirectory.TABLE), secret);
    var settings = SoftSettings.of(EngineSettings.of(Map.of("soft.directory", base.toString())));
    device = SoftDevice.open(settings, host, true, closed -> {});
  }

  @AfterEach
  void closeDevice() {
    device.close();
    its.close();
  }

  private SoftPeer acquire(int listenerPort) throws IOException {
    byte[] nonce = new byte[LinkHello.NONCE_BYTES];
    byte[] proof = LinkHello.proof(secret, nonce, 1000, 2000);
    var hello = new LinkHello(HostIdentity.self(), 1, nonce, proof, its.name(), new byte[0]);
    return device.peers.acquire(hello, 1000, listenerPort);
  }

  @Test
  void shouldShareAPeerAmongItsConnections() {
    device.loop.call(
        () -> {
          try {
            SoftPeer first = acquire(2000);
            SoftPeer second = acquire(2000);
            assertThat(second).isSameAs(first);
            device.peers.release(first);
            assertThat(device.peers.isEmpty()).isFalse();
            device.peers.release(second);
            assertThat(device.peers.isEmpty()).isTrue();
          } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
          }
        });
  }

  @Test
  void shouldRefuseAHelloForOtherPorts() {
    device.loop.call(
        () -> {
          assertThatThrownBy(() -> acquire(2001))
              .hasMessageContaining("proof in the hello is wrong");
          assertThat(device.peers.isEmpty()).isTrue();
        });
  }
}
