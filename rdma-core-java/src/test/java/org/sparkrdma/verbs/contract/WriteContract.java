// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.device.Capability;

/** RDMA WRITE, with and without immediate data. */
public abstract class WriteContract extends VerbsContract {
  private static final int LENGTH = 50_000;

  @Test
  void shouldWriteThePeersMemory() throws Exception {
    Pair pair = connect();
    Node.Block source = client.block(LENGTH, 42, Node.SINK);
    Node.Block target = server.block(LENGTH, 0, Node.ALL);
    pair.client().postSend(source.writeTo(1, target.region()).signalled());
    assertThat(success(client).opcode()).isEqualTo(Opcode.WRITE);
    assertThat(target.bytes()).isEqualTo(source.bytes());
  }

  @Test
  void shouldGatherAWrite() throws Exception {
    Pair pair = connect();
    Node.Block source = client.block(100, 0, Node.SINK);
    source.memory().slice(0, 100).put(ConnectionContract.pattern(100, 0));
    Node.Block target = server.block(10, 99, Node.ALL);
    pair.client()
        .postSend(
            new WorkRequest(2)
                .write(1, target.region().address() + 2, target.region().remote().remoteKey())
                .local(source.region(), 50, 2)
                .local(source.region(), 10, 3)
                .signalled());
    assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(target.bytes()).containsExactly(99, 99, 50, 51, 10, 11, 12, 99, 99, 99);
  }

  @Test
  void shouldSeeAWriteBeforeALaterSend() throws Exception {
    Pair pair = connect();
    Node.Block source = client.block(LENGTH, 42, Node.SINK);
    Node.Block target = server.block(LENGTH, 0, Node.ALL);
    pair.server().postReceive(new WorkRequest(1).receive(1));
    WorkRequest[] both = {source.writeTo(1, target.region()), new WorkRequest(1).send(2)};
    pair.client().postSend(both, 0, 2);
    assertThat(result(server).status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(target.bytes()).isEqualTo(source.bytes());
  }

  @Test
  void shouldReadDataWrittenBefore() throws Exception {
    Pair pair = connect();
    Node.Block source = client.block(LENGTH, 42, Node.SINK);
    Node.Block target = server.block(LENGTH, 0, Node.ALL);
    Node.Block back = client.block(LENGTH, 0, Node.SINK);
    WorkRequest[] both = {source.writeTo(1, target.region()), back.readFrom(2, target.region())};
    pair.client().postSend(both, 0, 2);
    assertThat(result(client).id()).isEqualTo(2);
    assertThat(back.bytes()).isEqualTo(source.bytes());
  }

  @Test
  void shouldConsumeAReceiveWithImmediateData() throws Exception {
    assumeCan(Capability.WRITE_WITH_IMMEDIATE);
    Pair pair = connect();
    Node.Block source = client.block(LENGTH, 42, Node.SINK);
    Node.Block target = server.block(LENGTH, 0, Node.ALL);
    MemoryRegion region = target.region();
    pair.client()
        .postSend(
            new WorkRequest(1)
                .writeWithImmediate(1, region.address(), region.remote().remoteKey(), -5)
                .local(source.region(), 0, LENGTH)
                .signalled());
    pair.server().postReceive(new WorkRequest(1).receive(2));
    Result received = result(server);
    assertThat(received)
        .isEqualTo(
            new Result(
                2,
                WorkStatus.SUCCESS,
                pair.server().number(),
                Opcode.RECEIVE_WRITE_WITH_IMMEDIATE,
                LENGTH,
                -5));
    assertThat(target.bytes()).isEqualTo(source.bytes());
    assertThat(result(client).opcode()).isEqualTo(Opcode.WRITE_WITH_IMMEDIATE);
  }

  @Test
  void shouldRefuseARegionWithoutRemoteWrite() throws Exception {
    Node.Block target = server.block(LENGTH, 0, Node.READABLE);
    assertRefused(connect(), target.region(), refusal());
    assertThat(target.bytes()).containsOnly(0);
  }

  @Test
  void shouldRefuseWhenTheQueuePairMayNotWrite() throws Exception {
    assumeCan(Capability.QUEUE_PAIR_ACCESS);
    Pair pair = connect();
    pair.server().setRemoteAccess(Set.of(AccessFlag.REMOTE_READ));
    WorkStatus refusal =
        engine().deviates(Deviation.QUEUE_PAIR_ACCESS_IS_AN_INVALID_REQUEST)
            ? WorkStatus.REMOTE_INVALID_REQUEST
            : refusal();
    Node.Block target = server.block(LENGTH, 0, Node.ALL);
    assertRefused(pair, target.region(), refusal);
    assertThat(target.bytes()).containsOnly(0);
  }

  @Test
  void shouldRefuseAClosedRegion() throws Exception {
    Node.Block target = server.block(LENGTH, 0, Node.ALL);
    target.region().close();
    assertRefused(connect(), target.region(), refusal());
    assertThat(target.bytes()).containsOnly(0);
  }

  @Test
  void shouldRefuseAWriteBeyondTheEndOfTheRegion() throws Exception {
    Node.Block target = server.block(LENGTH, 0, Node.ALL);
    MemoryRegion narrow = server.domain.register(target.memory(), 0, LENGTH - 1, Node.ALL);
    assertRefused(connect(), narrow, refusal());
    boolean bySegment = engine().deviates(Deviation.WRITES_ARE_CHECKED_BY_SEGMENT);
    assertThat(target.bytes(bySegment ? LENGTH - 1 : 0, bySegment ? 1 : LENGTH)).containsOnly(0);
  }

  @Test
  void shouldRefuseAWriteOutsideTheRegion() throws Exception {
    Pair[] pairs = {connect(), connect()};
    Node.Block target = server.block(LENGTH, 0, Node.ALL);
    MemoryRegion narrow = server.domain.register(target.memory(), 10, 100, Node.ALL);
    assertRefused(pairs[0], narrow, narrow.address() - 1, 10, refusal());
    assertRefused(pairs[1], narrow, -10, 100, refusal());
    assertThat(target.bytes()).containsOnly(0);
  }

  @Test
  void shouldRefuseARegionOfAnotherProtectionDomain() throws Exception {
    Node.Block target = server.block(LENGTH, 0, Node.ALL);
    MemoryRegion foreign =
        server.device.allocateProtectionDomain().register(target.memory(), 0, LENGTH, Node.ALL);
    assertRefused(connect(), foreign, refusal());
    assertThat(target.bytes()).containsOnly(0);
  }

  @Test
  void shouldWriteNothing() throws Exception {
    Pair pair = connect();
    Node.Block target = server.block(10, 9, Node.ALL);
    MemoryRegion region = target.region();
    pair.client()
        .postSend(
            new WorkRequest(1).write(1, region.address(), region.remote().remoteKey()).signalled());
    assertThat(success(client).opcode()).isEqualTo(Opcode.WRITE);
    Node.Block back = client.block(10, 0, Node.SINK);
    read(client, pair.client(), back, region);
    assertThat(back.bytes()).containsOnly(9);
  }

  private void assertRefused(Pair pair, MemoryRegion region, WorkStatus refusal) throws Exception {
    assertRefused(pair, region, region.address(), LENGTH, refusal);
  }

  private void assertRefused(
      Pair pair, MemoryRegion region, long address, int length, WorkStatus refusal)
      throws Exception {
    Node.Block source = client.block(LENGTH, 42, Node.SINK);
    pair.client()
        .postSend(
            new WorkRequest(1)
                .write(1, address, region.remote().remoteKey())
                .local(source.region(), 0, length));
    if (engine().deviates(Deviation.SENDS_SUCCEED_WHEN_SENT)) {
      event(client, ConnectionEvent.Type.DISCONNECTED);
    } else {
      assertThat(result(client).status()).isEqualTo(refusal);
    }
    assertThat(pair.client().state()).isEqualTo(QueuePairState.ERROR);
  }
}
