// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.SoftPool;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;

class BlockMemoryTest {
  private static final int CHUNK = 64;
  private static final int CHUNKS = 16;
  private static final int BLOCK = 2 * CHUNK + 22;
  private static final long LIMIT = (long) CHUNK * CHUNKS;
  private static final long READER = 7;

  private final Random random = new Random(5);
  private SoftPool soft;
  private RegisteredPool pool;
  private ReceiveMemory receive;

  @BeforeEach
  void open() throws VerbsException {
    soft = new SoftPool(AccessFlag.LOCAL_WRITE, CHUNK, CHUNKS);
    pool = soft.pool();
    receive = new ReceiveMemory(pool, LIMIT);
  }

  @AfterEach
  void close() {
    receive.closeOpenChunk();
    assertThat(receive.readers()).as("readers that hold memory").isZero();
    soft.close();
  }

  /** A reader that gets no answers. */
  private record Reader(long reader) implements FetchHandler {
    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      throw new IllegalStateException("not delivered here");
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      throw new IllegalStateException("not delivered here");
    }

    @Override
    public void onSuspect(int index, SuspectBlock suspect) {
      throw new IllegalStateException("not delivered here");
    }
  }

  /** Places all sinks of a block and writes random bytes into them. */
  private byte[] fill(Reservation block, int lengthBytes) {
    byte[] content = new byte[lengthBytes];
    random.nextBytes(content);
    int placed = 0;
    while (placed < lengthBytes) {
      // In steps, like the pieces of an answer.
      int step = receive.addSink(block, Math.min(30, lengthBytes - placed));
      assertThat(step).isPositive();
      receive.sinkChunk().slice(receive.sinkEnd() - step, step).put(content, placed, step);
      placed += step;
    }
    return content;
  }

  private Reservation reserve(int lengthBytes) {
    Reservation block = new Reservation();
    assertThat(receive.tryReserve(block, READER, lengthBytes, true)).isTrue();
    return block;
  }

  private static BlockProgress blockOf(long reader, int lengthBytes) {
    List<BlockRange> ranges = List.of(new BlockRange(0, 0, 0, 1));
    BlockProgress block =
        new BlockFetch(null, ranges, null, new Reader(reader), done -> {}).blocks().get(0);
    block.acceptLayout(lengthBytes, 0);
    return block;
  }

  @Test
  void shouldReadABlockOfSeveralChunksInEveryWay() throws IOException {
    Reservation block = reserve(BLOCK);
    byte[] content = fill(block, BLOCK);
    assertThat(block.memory().count())
        .as("sinks that follow each other are one segment")
        .isEqualTo(3);

    FetchedBlock fetched = block.toFetchedBlock();

    assertThat(fetched.size()).isEqualTo(BLOCK);
    assertThat(fetched).isNotInstanceOf(HeapBlock.class);
    assertThat(fetched.nioByteBuffer()).isEqualTo(ByteBuffer.wrap(content));
    try (InputStream in = fetched.createInputStream()) {
      assertThat(in.readAllBytes()).isEqualTo(content);
      assertThat(in.read()).isEqualTo(-1);
    }
    try (InputStream in = fetched.createInputStream()) {
      assertThat(in.skip(CHUNK + 1)).isEqualTo(CHUNK + 1);
      assertThat(in.available()).isEqualTo(BLOCK - CHUNK - 1);
      for (int i = CHUNK + 1; i < BLOCK; i++) {
        assertThat((byte) in.read()).isEqualTo(content[i]);
      }
      assertThat(in.skip(1)).isZero();
    }
    InputStream late = fetched.createInputStream();
    fetched.release();
    assertThatThrownBy(late::read).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(fetched::nioByteBuffer).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldGiveTheMemoryBackOnceWhenABlockIsReleasedTwice() {
    Reservation block = reserve(CHUNK);
    fill(block, CHUNK);
    receive.closeOpenChunk();
    FetchedBlock fetched = block.toFetchedBlock();
    fetched.retain();
    fetched.release();
    assertThat(pool.chunksOut()).isEqualTo(1);

    fetched.release();
    assertThat(pool.chunksOut()).isZero();
    RegisteredChunk next = pool.tryTake().orElseThrow();
    assertThatThrownBy(fetched::release).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(fetched::retain).isInstanceOf(IllegalStateException.class);
    block.releaseMemory();
    assertThat(pool.chunksOut()).as("chunk of the next block").isEqualTo(1);
    next.release();
  }

  @Test
  void shouldCopyABlockToTheHeapWhenReceiveMemoryIsShort() throws IOException {
    Reservation most = reserve((int) LIMIT / 2);
    fill(most, (int) LIMIT / 2);
    BlockProgress block = blockOf(READER + 1, BLOCK);
    assertThat(block.tryReserve(receive)).isTrue();
    byte[] content = fill(block, BLOCK);

    ReceiveMemory.endReservations(List.of(block));
    FetchedBlock copied = block.toFetchedBlock();

    assertThat(copied).isInstanceOf(HeapBlock.class);
    try (InputStream in = copied.createInputStream()) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    copied.release();
    most.releaseMemory();
  }

  @Test
  void shouldReleaseOnlyTheEndOfABlock() {
    Reservation block = reserve(BLOCK);
    fill(block, BLOCK);

    block.memory().releaseLast(CHUNK);

    assertThat(block.memory().size()).isEqualTo(BLOCK - CHUNK);
    assertThat(block.memory().count()).isEqualTo(2);
    block.memory().releaseLast(BLOCK - CHUNK);
    assertThat(block.memory().count()).isZero();
    block.endReservation();
    assertThat(block.isReserved()).isFalse();
  }

  @Test
  void shouldGiveTheReservationOfOneReaderBackToAll() {
    Reservation first = reserve((int) LIMIT / 2);
    Reservation second = new Reservation();
    assertThat(receive.tryReserve(second, READER, CHUNK, true)).as("beyond its share").isFalse();
    first.endReservation();
    assertThat(receive.tryReserve(second, READER, LIMIT, true)).isTrue();
    second.endReservation();
  }

  @Test
  void shouldCountABlockForItsReaderUntilItIsReleasedWhenTheHeapHasNoRoom() {
    ReceiveMemory full = new ReceiveMemory(pool, 0);
    Reservation block = new Reservation();
    assertThat(full.tryReserve(block, READER, LIMIT / 2, true)).isTrue();
    assertThat(full.addSink(block, CHUNK)).isEqualTo(CHUNK);
    full.closeOpenChunk();
    FetchedBlock unread = block.toFetchedBlock();
    assertThat(full.readers()).isEqualTo(1);

    Reservation next = new Reservation();
    long beyondShare = (LIMIT - 2 * CHUNK) / 2 + 1;
    assertThat(full.tryReserve(next, READER, beyondShare, true)).isFalse();
    assertThat(full.tryReserve(next, READER, beyondShare, false)).as("written to disk").isTrue();
    next.endReservation();
    assertThat(full.tryReserve(next, READER + 1, beyondShare, true)).as("another").isTrue();
    next.endReservation();
    assertThat(receive.tryReserve(next, READER, beyondShare, true)).as("may be copied").isTrue();
    next.endReservation();

    unread.release();
    assertThat(full.readers()).isZero();
    assertThat(full.tryReserve(next, READER, beyondShare, true)).isTrue();
    next.endReservation();
    assertThat(full.readers()).isZero();
  }

  @Test
  void shouldNotCountTheEarlierPartsOfABlockThatGoesOn() {
    ReceiveMemory full = new ReceiveMemory(pool, 0);
    Reservation block = new Reservation();
    assertThat(full.tryReserve(block, READER, LIMIT / 2, true)).isTrue();
    assertThat(full.addSink(block, CHUNK)).isEqualTo(CHUNK);
    full.closeOpenChunk();
    assertThat(full.addSink(block, CHUNK)).isEqualTo(CHUNK);
    full.closeOpenChunk();
    block.memory().releaseLast(CHUNK);
    block.endReservation();
    assertThat(full.readers()).as("it holds its first part").isEqualTo(1);

    assertThat(full.tryReserve(block, READER, LIMIT - CHUNK, true)).isTrue();
    block.endReservation();
    block.memory().releaseLast(CHUNK);
    assertThat(full.readers()).isZero();
  }

  @Test
  void shouldEndTheReservationsOfSeveralReadersTogether() {
    ReceiveMemory full = new ReceiveMemory(pool, 0);
    List<BlockProgress> blocks =
        List.of(
            blockOf(READER, CHUNK),
            blockOf(READER, CHUNK),
            blockOf(READER, CHUNK),
            blockOf(READER + 1, CHUNK));
    for (BlockProgress block : blocks) {
      assertThat(block.tryReserve(full)).isTrue();
      assertThat(full.addSink(block, CHUNK)).isEqualTo(CHUNK);
    }
    full.closeOpenChunk();
    blocks.get(1).endReservation();

    ReceiveMemory.endReservations(blocks);

    assertThat(blocks).noneMatch(BlockProgress::hasReservation);
    assertThat(full.readers()).isEqualTo(2);
    long share = (LIMIT - (long) blocks.size() * CHUNK - 3 * CHUNK) / 2;
    Reservation next = new Reservation();
    assertThat(full.tryReserve(next, READER, share + 1, true)).as("beyond its share").isFalse();
    assertThat(full.tryReserve(next, READER, share, true)).isTrue();
    next.endReservation();
    blocks.get(3).releaseMemory();
    assertThat(full.readers()).isEqualTo(1);
    blocks.subList(0, 3).forEach(BlockProgress::releaseMemory);
    assertThat(full.readers()).isZero();
  }
}
