// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.directory.Endpoint;

/** A test of executors in virtual time. The close of the fabric checks that nothing stays open. */
@Timeout(120)
abstract class VirtualFixture {
  static final long MS = VirtualFabric.MS;

  VirtualFabric fabric = new VirtualFabric();

  @AfterEach
  void closeFabric() {
    fabric.close();
  }

  /** Closes the fabric, and begins with another one. */
  final void renewFabric() {
    fabric.close();
    fabric = new VirtualFabric();
  }

  /** Starts executors with the default settings. */
  final List<VirtualExecutor> servers(int count, int blockBytes) throws Exception {
    List<VirtualExecutor> servers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      servers.add(fabric.start(blockBytes));
    }
    return servers;
  }

  /** What a reader may lose: the capacity of its budget and a fiftieth of the time. */
  static final long mayLoseNs(long lengthNs) {
    return 1_500 * MS + lengthNs / 50 + 40 * MS;
  }

  /** A task loses no more than that. */
  static final void assertLosesLittle(VirtualTask task, long lengthNs) {
    assertThat(task.lostNs())
        .as(
            "%d of %d requests by READ, failures: %s",
            task.read(), task.answered(), task.failures())
        .isLessThanOrEqualTo(mayLoseNs(lengthNs));
  }

  /** Fetches a block, which must come by READ within a second. */
  final void assertReads(VirtualExecutor reader, Endpoint server) {
    VirtualFetch fetch = new VirtualFetch(reader, server);
    fabric.runUntil(fetch::isAnswered, 1_000 * MS);
    assertThat(fetch.isRead()).as("%s", fetch.failures()).isTrue();
  }
}
