// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.VerbsContract;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedReceives;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/** Messages that arrive as soon as the peer can find their receives. */
class EarlyMessageTest extends VerbsContract {
  private static final int MESSAGES = 100_000;

  @Override
  protected EngineUnderTest engine() {
    return SoftUnderTest.ENGINE;
  }

  @Test
  void shouldSeeEachMessageThatArrivesWhileItsReceiveIsPosted() throws Exception {
    reopenUnwatched();
    Pair pair = connect();
    int number = pair.server().number();
    var device = (SoftDevice) server.device;
    var receives = SharedReceives.attach(SharedDirectory.receives(device.directory.path(), number));
    var peer =
        new Thread(
            () -> {
              for (long position = 0; position < MESSAGES && !Thread.interrupted(); ) {
                if (receives.isPosted(position)) {
                  receives.deliver(position++, 0, 0, 0);
                  device.table.ring(SharedTable.queuePairIndex(number));
                  device.loop.poll(false);
                }
              }
            });
    peer.start();
    try {
      Node.Block inbox = server.block(100, 0, Node.SINK);
      for (int i = 0; i < MESSAGES; i++) {
        pair.server().postReceive(inbox.receive(i));
        spinUntil(() -> server.pollQueue() > 0);
        assertThat(server.results.remove().id()).isEqualTo(i);
      }
    } finally {
      peer.interrupt();
      peer.join();
    }
  }
}
