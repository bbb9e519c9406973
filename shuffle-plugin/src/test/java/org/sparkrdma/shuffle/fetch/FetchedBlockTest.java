// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.SoftPool;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;

/** Memory of blocks, before it is verified; see {@link FetchRequestTest} for that. */
class FetchedBlockTest {
  private static final int CHUNK = 64;
  private static final int CHUNKS = 16;
  private static final int BLOCK = 2 * CHUNK + 22;

  private final Random random = new Random(5);
  private SoftPool soft;
  private RegisteredPool pool;
  private ReceiveMemory receiveMemory;

  @BeforeEach
  void open() throws VerbsException {
    soft = new SoftPool(AccessFlag.LOCAL_WRITE, CHUNK, CHUNKS);
    pool = soft.pool();
    receiveMemory = TakenMemory.of(pool, new ShuffleCounters());
  }

  @AfterEach
  void close() {
    receiveMemory.closeOpenChunk();
    soft.close();
  }

  /** Places all sinks of a block, and writes random bytes into them. */
  private byte[] fill(FetchedBlock block) {
    byte[] content = new byte[(int) block.size()];
    random.nextBytes(content);
    int placed = 0;
    for (int i = 0; i < block.count(); i++) {
      int step = block.lengthBytes(i);
      block.chunk(i).slice(block.offset(i), step).put(content, placed, step);
      placed += step;
    }
    return content;
  }

  @Test
  void shouldReadABlockOfSeveralChunksInEveryWay() throws IOException {
    FetchedBlock small = TakenMemory.take(receiveMemory, 10);
    FetchedBlock block = TakenMemory.take(receiveMemory, BLOCK);
    byte[] content = fill(block);
    assertThat(block.count()).isEqualTo(3);
    assertThat(block.size()).isEqualTo(BLOCK);
    assertThat(block.nioByteBuffer()).isEqualTo(ByteBuffer.wrap(content));
    try (InputStream in = block.createInputStream()) {
      assertThat(in.readAllBytes()).isEqualTo(content);
      assertThat(in.read()).isEqualTo(-1);
    }
    try (InputStream in = block.createInputStream()) {
      assertThat(in.skip(CHUNK + 1)).isEqualTo(CHUNK + 1);
      assertThat(in.available()).isEqualTo(BLOCK - CHUNK - 1);
      for (int i = CHUNK + 1; i < BLOCK; i++) {
        assertThat((byte) in.read()).isEqualTo(content[i]);
      }
      assertThat(in.skip(1)).isZero();
    }
    InputStream late = block.createInputStream();
    block.release();
    assertThatThrownBy(late::read).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(block::createInputStream).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(block::nioByteBuffer).isInstanceOf(IllegalStateException.class);
    small.release();
  }

  @Test
  void shouldGiveTheMemoryBackOnceWhenABlockIsReleasedTwice() {
    FetchedBlock block = TakenMemory.take(receiveMemory, CHUNK);
    receiveMemory.closeOpenChunk();
    block.retain();
    block.release();
    assertThat(pool.chunksOut()).isEqualTo(1);

    block.release();
    assertThat(pool.chunksOut()).isZero();
    RegisteredChunk next = pool.tryTake().orElseThrow();
    assertThatThrownBy(block::release).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(block::retain).isInstanceOf(IllegalStateException.class);
    assertThat(pool.chunksOut()).as("chunk of the next block").isEqualTo(1);
    next.release();
  }
}
