// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;

/** Only the agent's thread may use its state while it runs. */
@Timeout(60)
class AgentOwnershipTest {
  @TempDir private Path directory;

  @Test
  void shouldThrowWhenAnotherThreadUsesTheAgentsState() throws Exception {
    Path one = Files.createDirectory(directory.resolve("one"));
    Path two = Files.createDirectory(directory.resolve("two"));
    try (TestExecutor reader = new TestExecutor(one, new TestExecutor.Options(1));
        TestExecutor server = new TestExecutor(two, new TestExecutor.Options(2))) {
      server.outputs().write(1, new Random(1), 1000);
      List<BlockRange> blocks = List.of(new BlockRange(0, 1, 0, 1));
      CollectedBlocks collected = new CollectedBlocks(blocks);
      FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, collected);
      assertThat(collected.await().bytes(0)).hasSize(1000);

      Set<Object> all = new ObjectWalk().from(reader.transport());
      assertClosed(() -> one(all, Peers.class).of(2));
      assertClosed(() -> one(all, Peers.class).stop());
      assertClosed(() -> one(all, Connector.class).onEvent(null, 0));
      assertClosed(() -> one(all, PeerConnection.class).pump(0));
      assertClosed(() -> one(all, PeerConnection.class).close());
      assertClosed(() -> one(all, FetchSide.class).abandon());

      reader.transport().close();
      one(all, Peers.class).of(2);
    }
  }

  private static void assertClosed(Runnable touch) {
    assertThatThrownBy(touch::run)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("owner=rdma-agent");
  }

  private static <T> T one(Set<Object> all, Class<T> type) {
    return all.stream().filter(type::isInstance).map(type::cast).findFirst().orElseThrow();
  }
}
