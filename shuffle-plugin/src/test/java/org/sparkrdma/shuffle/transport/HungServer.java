// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;

/** Steps of tests with a server on which a call has not returned. Stateless. */
final class HungServer {
  private HungServer() {}

  /** Requests blocks; their answers may come later. */
  static CollectedBlocks fetch(TestExecutor reader, TestExecutor server, List<BlockRange> blocks) {
    CollectedBlocks collected = new CollectedBlocks(blocks);
    FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, collected);
    return collected;
  }

  /** The runtime cannot close the transport while a call has not returned. */
  static void assertNotClosed(TestExecutor server) {
    assertThatThrownBy(() -> server.transport().close(Duration.ofMillis(1)))
        .hasMessageContaining("a disk or the device hangs");
  }

  /** Closes the transport once the call has returned. Its executor then finds what is left. */
  static void closeOnceReturned(TestExecutor server) {
    while (!tryClose(server)) {
      Thread.onSpinWait();
    }
  }

  private static boolean tryClose(TestExecutor executor) {
    try {
      executor.transport().close();
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }
}
