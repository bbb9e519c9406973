// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.WorkRequest;

/** Memory, regions and protection domains. */
public abstract class MemoryContract extends VerbsContract {
  private static final int LENGTH = 10_000;

  @Test
  void shouldSliceZeroedMemoryLittleEndianAndBounded() throws Exception {
    try (HostMemory memory = client.device.allocate(LENGTH)) {
      assertThat(memory.lengthBytes()).isEqualTo(LENGTH);
      assertThat(memory.address()).isNotZero();
      byte[] bytes = new byte[LENGTH];
      memory.slice(0, LENGTH).get(bytes);
      assertThat(bytes).containsOnly(0);
      ByteBuffer slice = memory.slice(10, 100);
      assertThat(slice.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
      assertThat(slice.isDirect()).isTrue();
      assertThat(slice.position()).isZero();
      assertThat(slice.limit()).isEqualTo(100);
      assertThat(slice.capacity()).isEqualTo(100);
      slice.put(0, (byte) 5);
      assertThat(memory.slice(10, 1).get(0)).isEqualTo((byte) 5);
      assertThatThrownBy(() -> memory.slice(LENGTH - 1, 2))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> memory.slice(-1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void shouldRefuseSlicesOfClosedMemory() throws Exception {
    HostMemory memory = client.device.allocate(LENGTH);
    ByteBuffer early = memory.slice(0, LENGTH);
    memory.close();
    memory.close();
    assertThatThrownBy(() -> memory.slice(0, 1)).isInstanceOf(IllegalStateException.class);
    assertThat(firstByte(early)).isIn("0", "refused");
  }

  /** The byte that a late reader sees: no fault, and no byte of the memory's next owner. */
  private static String firstByte(ByteBuffer slice) {
    try {
      return Byte.toString(slice.get(0));
    } catch (IllegalStateException e) {
      return "refused";
    }
  }

  @Test
  void shouldReachMemoryBeyondTwoGibibytes() throws Exception {
    long length = (5L << 29) + 4096;
    assumeTrue(
        client.device.info().limits().maxMemoryRegionBytes() >= length, "regions are shorter");
    Pair pair = connect();
    // A device that refuses the whole range registers its end.
    long from = engine().deviates(Deviation.LONG_REGIONS_ARE_REFUSED) ? (1L << 31) - 4096 : 0;
    try (HostMemory memory = server.device.allocate(length);
        MemoryRegion region = server.domain.register(memory, from, length - from, Node.READABLE)) {
      long at = length - 8;
      memory.slice(at, 8).putLong(0x1122_3344_5566_7788L);
      memory.slice((1L << 31) - 4, 8).putLong(0, -2);
      Node.Block sink = client.block(16, 0, Node.SINK);
      pair.client().postSend(sink.read(1, region, at - from, 0, 8));
      pair.client().postSend(sink.read(2, region, (1L << 31) - 4 - from, 8, 8));
      success(client);
      success(client);
      assertThat(sink.memory().slice(0, 8).getLong()).isEqualTo(0x1122_3344_5566_7788L);
      assertThat(sink.memory().slice(8, 8).getLong()).isEqualTo(-2);
    }
  }

  @Test
  void shouldRegisterSeveralRegionsOverTheSameBytes() throws Exception {
    try (HostMemory memory = client.device.allocate(LENGTH);
        MemoryRegion whole = client.domain.register(memory, 0, LENGTH, Node.READABLE);
        MemoryRegion part = client.domain.register(memory, 100, 50, Node.SINK)) {
      assertThat(whole.address()).isEqualTo(memory.address());
      assertThat(part.address()).isEqualTo(memory.address() + 100);
      assertThat(part.lengthBytes()).isEqualTo(50);
      assertThat(part.access()).isEqualTo(Node.SINK);
      assertThat(part.remote().remoteKey()).isNotEqualTo(whole.remote().remoteKey());
      assertThat(part.remote().address()).isEqualTo(part.address());
    }
  }

  @Test
  void shouldNotReuseAKeyForTheNextRegion() throws Exception {
    Set<Long> keys = new HashSet<>();
    try (HostMemory memory = client.device.allocate(LENGTH)) {
      for (int i = 0; i < 100; i++) {
        try (MemoryRegion region = client.domain.register(memory, 0, LENGTH, Node.READABLE)) {
          keys.add(region.remote().remoteKey());
        }
      }
    }
    assertThat(keys).hasSize(100);
  }

  @Test
  void shouldKeepMemoryOpenWhileARegionIsOverIt() throws Exception {
    HostMemory memory = client.device.allocate(LENGTH);
    MemoryRegion region = client.domain.register(memory, 0, LENGTH, Node.READABLE);
    assertThatThrownBy(memory::close).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(client.domain::close).isInstanceOf(IllegalStateException.class);
    region.close();
    region.close();
    memory.close();
  }

  @Test
  void shouldReadNoBytesWrittenAfterDeregistration() throws Exception {
    int length = 1 << 20;
    int reads = 8;
    Node.Block[] sinks = new Node.Block[reads];
    for (int i = 0; i < reads; i++) {
      sinks[i] = client.block(length, 0, Node.SINK);
    }
    int roundsUnderReads = 0;
    for (int round = 0; round < Math.max(2, 20 / engine().shorter()); round++) {
      Pair pair = connect();
      Node.Block source = server.block(length, 5, Node.READABLE);
      for (int i = 0; i < reads; i++) {
        pair.client().postSend(sinks[i].readFrom(i, source.region()));
      }
      // Some rounds deregister under the first READ, some under the last.
      int done = round % reads;
      until(() -> client.results.size() >= done);
      source.region().close();
      byte[] foreign = new byte[length];
      Arrays.fill(foreign, (byte) 9);
      source.memory().slice(0, length).put(foreign);
      int succeeded = 0;
      for (int i = 0; i < reads; i++) {
        Result read = result(client);
        if (read.succeeded()) {
          assertAll(sinks[(int) read.id()].bytes(), 5);
          succeeded++;
        }
      }
      if (succeeded < reads) {
        roundsUnderReads++;
      }
      pair.clientEnd().close();
      pair.serverEnd().close();
      client.events.clear();
      server.events.clear();
    }
    // In the few rounds on kernel RDMA all READs may have ended before.
    if (engine().shorter() == 1) {
      assertThat(roundsUnderReads).as("rounds whose deregistration failed a READ").isPositive();
    }
  }

  @Test
  void shouldRefuseBadRegistrations() throws Exception {
    try (HostMemory memory = client.device.allocate(LENGTH);
        HostMemory foreign = server.device.allocate(LENGTH)) {
      assertThatThrownBy(() -> client.domain.register(memory, 1, LENGTH, Node.SINK))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(
              () -> client.domain.register(memory, 0, LENGTH, Set.of(AccessFlag.REMOTE_WRITE)))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> client.domain.register(foreign, 0, LENGTH, Node.SINK))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> client.device.allocate(0))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void shouldRefuseLocalMemoryOutsideItsRegion() throws Exception {
    Node.Block block = client.block(LENGTH, 0, Node.SINK);
    WorkRequest request = new WorkRequest(1).send(1);
    assertThatThrownBy(() -> request.local(block.region(), 1, LENGTH))
        .isInstanceOf(IndexOutOfBoundsException.class);
    request.local(block.region(), 0, LENGTH);
    assertThatThrownBy(() -> request.local(block.region(), 0, 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldNotShowKeysInToString() throws Exception {
    Node.Block block = client.block(LENGTH, 0, Node.READABLE);
    String key = Long.toString(block.region().remote().remoteKey());
    assertThat(block.region().remote().toString()).doesNotContain(key);
  }
}
