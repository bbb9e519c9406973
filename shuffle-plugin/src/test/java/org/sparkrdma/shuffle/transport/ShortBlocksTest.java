// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.settings.ServeSettings;

/**
 * Blocks without a checksum at the pages of the server's file, most across one, each read alone. In
 * the guest on soft iWARP, whose kernel answers a READ of up to 32 bytes across a page with wrong
 * bytes.
 */
class ShortBlocksTest extends TransportFixture {
  private static final int PAGE_BYTES = 4_096;
  private static final int FILE_BYTES = 16 * PAGE_BYTES;

  @ParameterizedTest(name = "{0} bytes")
  @ValueSource(ints = {7, 12, 31, 33})
  void shouldReadTheBytesOfShortBlocksAcrossPages(int blockBytes) throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server =
        start(new TestExecutor.Options(2).mode(ServeSettings.Mode.WINDOW).verify(false));
    int[] lengths = new int[FILE_BYTES / blockBytes];
    Arrays.fill(lengths, blockBytes);
    server.outputs().write(0, random, lengths);
    server.outputs().forgetSums(0);
    for (int page = PAGE_BYTES; page < FILE_BYTES - PAGE_BYTES; page += PAGE_BYTES) {
      int partition = page / blockBytes;
      List<BlockRange> crossing = List.of(block(0, partition, partition + 1));
      CollectedBlocks collected = fetch(reader, server, crossing);
      assertThat(collected.wasRead(0)).isTrue();
      assertRight(server, crossing, collected);
    }
  }
}
