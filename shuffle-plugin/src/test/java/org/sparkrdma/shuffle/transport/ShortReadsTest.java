// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Short blocks, of which some cross a page: the kernel's soft iWARP would answer a READ of one with
 * wrong bytes, so {@link VirtualConnection} takes none.
 */
class ShortReadsTest extends VirtualFixture {
  private static final int PAGES_BYTES = 2 * 4_096;

  @ParameterizedTest(name = "{0} bytes")
  @ValueSource(ints = {7, 12, 31, 32, 33})
  void shouldReadShortBlocksAcrossPages(int blockBytes) throws Exception {
    int partitions = PAGES_BYTES / blockBytes;
    VirtualExecutor server = fabric.start(partitions, blockBytes, "serve", "window");
    VirtualExecutor reader = fabric.start(partitions, blockBytes);
    for (int partition = 0; partition < partitions; partition++) {
      VirtualFetch fetch = new VirtualFetch(reader, server.endpoint(), partition, 1, () -> {});
      assertThat(fabric.runUntil(fetch::isAnswered, 1_000 * MS)).isTrue();
      assertThat(fetch.failures()).isEmpty();
      assertThat(fetch.isRead()).isTrue();
    }
  }
}
