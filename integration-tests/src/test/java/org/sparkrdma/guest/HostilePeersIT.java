// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The plug-in's tests of strangers, misbehaving readers and misbehaving servers, on kernel RDMA;
 * and of READs that soft iWARP answers with wrong bytes.
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(300)
final class HostilePeersIT {
  private static final String TRANSPORT = "org.sparkrdma.shuffle.transport.";

  @Test
  void shouldLoseNothingToStrangersAndPeersThatMisbehave() throws Exception {
    run("rocev2", "HostilePeerTest");
  }

  /** Tests of features that siw lacks are skipped, see allowed-skips.txt. */
  @Test
  @Tag("nightly")
  void shouldLoseNothingToStrangersAndPeersThatMisbehaveOnIwarp() throws Exception {
    run("iwarp", "HostilePeerTest");
  }

  /**
   * On RoCE only: a server of this test sends as soon as it has accepted, and siw may lose such a
   * message for as long as no other follows (docs/dev/testing.md).
   */
  @Test
  @Tag("nightly")
  void shouldReadNothingWrongFromAServerThatMisbehaves() throws Exception {
    run("rocev2", "HostileServerTest");
  }

  @Test
  void shouldReadTheBytesOfShortBlocksAcrossPagesOnIwarp() throws Exception {
    run("iwarp", "ShortBlocksTest");
  }

  private static void run(String transport, String tests) throws Exception {
    GuestTests.run(
        GuestTests.guest(transport, Duration.ofMinutes(4)),
        GuestTests.classPathOfPlugin(),
        List.of("-Dtest.engine=ibverbs"),
        TRANSPORT + tests);
  }
}
