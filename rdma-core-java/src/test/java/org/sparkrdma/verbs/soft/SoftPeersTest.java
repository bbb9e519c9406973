// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.ProcessIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.soft.wire.LinkHello;

/** The check of peers' processes, with a process that runs no engine. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class SoftPeersTest {
  @TempDir Path base;
  private Process sleeper;
  private ProcessIdentity identity;
  private SharedDirectory mine;
  private SharedDirectory its;
  private DeviceLoop loop;
  private SoftPeers peers;
  private final byte[] secret = new byte[SharedTable.SECRET_BYTES];

  @BeforeEach
  void startProcess() throws IOException {
    sleeper = new ProcessBuilder("sleep", "1000").start();
    identity = ProcessIdentity.of((int) sleeper.pid());
    HostIdentity host = HostIdentity.self();
    mine = SharedDirectory.create(base, host, ProcessIdentity.self());
    its = SharedDirectory.create(base, host, identity);
    SharedTable table = SharedTable.create(its.path().resolve(SharedDirectory.TABLE), secret);
    loop = new DeviceLoop("not started", table);
    peers = new SoftPeers(loop, mine, ProcessIdentity.self(), 1_000_000_000L);
  }

  @AfterEach
  void endProcess() {
    sleeper.destroyForcibly().onExit().join();
    loop.stop();
    its.close();
    mine.close();
  }

  private LinkHello hello(ProcessIdentity process) throws IOException {
    byte[] nonce = new byte[LinkHello.NONCE_BYTES];
    return new LinkHello(
        HostIdentity.self(),
        process,
        1,
        nonce,
        LinkHello.proof(secret, nonce, 1000, 2000),
        its.name(),
        new byte[0]);
  }

  @Test
  void shouldReportAPeerWhoseProcessEnded() throws IOException {
    SoftPeer peer = peers.acquire(hello(identity), 1000, 2000);
    assertThat(peers.check()).isEmpty();
    sleeper.destroyForcibly().onExit().join();
    assertThat(peers.check()).containsExactly(peer);
    peers.release(peer);
    assertThat(peers.isEmpty()).isTrue();
  }

  @Test
  void shouldShareAPeerAmongItsConnections() throws IOException {
    SoftPeer first = peers.acquire(hello(identity), 1000, 2000);
    SoftPeer second = peers.acquire(hello(identity), 1000, 2000);
    assertThat(second).isSameAs(first);
    peers.release(first);
    assertThat(peers.isEmpty()).isFalse();
    peers.release(second);
    assertThat(peers.isEmpty()).isTrue();
  }

  @Test
  void shouldRefuseAHelloForOtherPorts() {
    assertThatThrownBy(() -> peers.acquire(hello(identity), 1000, 2001))
        .hasMessageContaining("proof in the hello is wrong");
    assertThat(peers.isEmpty()).isTrue();
  }

  @Test
  void shouldRefuseADirectoryOfAnotherProcess() {
    assertThatThrownBy(() -> peers.acquire(hello(ProcessIdentity.self()), 1000, 2000))
        .hasMessageContaining("another process");
  }

  @Test
  void shouldRefuseAProcessThatEnded() {
    sleeper.destroyForcibly().onExit().join();
    assertThatThrownBy(() -> peers.acquire(hello(identity), 1000, 2000))
        .hasMessageContaining("another process");
  }
}
