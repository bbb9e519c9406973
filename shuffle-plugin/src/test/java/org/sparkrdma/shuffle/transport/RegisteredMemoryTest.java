// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.verbs.AccessFlag;

/** What executors register, for which access, and that they have a grant for it. */
@Timeout(60)
class RegisteredMemoryTest {
  private static final int BLOCK_BYTES = 256 << 10;
  private static final int BLOCKS = 16;

  @ParameterizedTest
  @ValueSource(strings = {"window", "copy"})
  void shouldRegisterWithGrantsOnlyAndForReadsOfPeersOrOwnWritesOnly(String serve)
      throws Exception {
    VirtualFabric fabric = new VirtualFabric();
    VirtualExecutor reader = fabric.start(BLOCK_BYTES);
    VirtualExecutor server = fabric.start(BLOCK_BYTES, "serve", serve);
    VirtualFetch fetch = new VirtualFetch(reader, server.endpoint(), 0, BLOCKS, () -> {});
    assertThat(fabric.runUntil(fetch::isAnswered, 10_000 * VirtualFabric.MS)).isTrue();

    assertThat(fetch.isRead()).isTrue();
    boolean window = serve.equals("window");
    assertThat(server.count(Counter.WINDOWS_REGISTERED) > 0).isEqualTo(window);
    assertThat(server.count(Counter.EXTENTS_FROM_COPIES) > 0).isNotEqualTo(window);
    Set<AccessFlag> written = Set.of(AccessFlag.LOCAL_WRITE);
    assertThat(access(reader)).containsExactly(written);
    assertThat(access(server)).containsOnly(written, Set.of(AccessFlag.REMOTE_READ));
    // Fails when something was registered without a grant.
    fabric.close();
  }

  /** Each access that it uses, without the order of writes. */
  private static Set<Set<AccessFlag>> access(VirtualExecutor executor) {
    return executor.device.access.stream()
        .map(
            flags -> {
              EnumSet<AccessFlag> rest = EnumSet.copyOf(flags);
              rest.remove(AccessFlag.RELAXED_ORDERING);
              return rest;
            })
        .collect(Collectors.toSet());
  }
}
