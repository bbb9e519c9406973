// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A runtime is drained while a peer reads from it. */
class DrainedServerTest extends TwoRuntimesFixture {
  private static final List<String> DESTROYING_CALLS =
      List.of("ibv_destroy_qp", "rdma_destroy_qp", "rdma_destroy_id", "ibv_dealloc_pd");

  @Test
  void shouldCompleteTheReadsOfPeersAfterADrain() {
    assertThat(fetch().join()).isEqualTo(content);
    long before = library.hits();
    library.limit("held_reads", 1);
    CompletableFuture<Object> open = fetch();
    while (library.hits() == before) {
      Thread.onSpinWait();
    }
    List<Long> destroyed = destroyed();

    server.runtime.drain();

    assertThat(open).as("a READ of leased memory is in flight").isNotDone();
    assertThat(destroyed()).as("calls of %s", DESTROYING_CALLS).isEqualTo(destroyed);
    library.releaseReads();
    assertThat(open.join()).as("read after the drain").isEqualTo(content);
    assertThat(fetch().join()).as("requested after the drain").isEqualTo(content);
    assertThat(destroyed()).as("calls of %s", DESTROYING_CALLS).isEqualTo(destroyed);
  }

  private List<Long> destroyed() {
    return DESTROYING_CALLS.stream().map(library::calls).toList();
  }
}
