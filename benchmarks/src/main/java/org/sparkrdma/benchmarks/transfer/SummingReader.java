// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.InputStream;

/** Reads all bytes of blocks of one length and adds them up. Confined to one thread. */
public final class SummingReader implements BlockFetcher.BlockReader {
  private final BlockSum sum;
  private final int blockBytes;
  private final byte[] chunk = new byte[BlockSum.CHUNK_BYTES];

  /**
   * @param sum gets the bytes of each block
   * @param blockBytes length of each block
   */
  public SummingReader(BlockSum sum, int blockBytes) {
    this.sum = sum;
    this.blockBytes = blockBytes;
  }

  @Override
  public void read(String blockId, InputStream in) throws IOException {
    long lengthBytes = 0;
    int count = in.readNBytes(chunk, 0, chunk.length);
    while (count > 0) {
      sum.add(chunk, count);
      lengthBytes += count;
      count = in.readNBytes(chunk, 0, chunk.length);
    }
    if (lengthBytes != blockBytes) {
      throw new IOException(
          "block %s has %d bytes, not %d".formatted(blockId, lengthBytes, blockBytes));
    }
    sum.endBlock(blockId);
  }
}
