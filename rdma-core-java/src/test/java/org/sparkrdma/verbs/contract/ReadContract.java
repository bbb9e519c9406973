// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.device.Capability;

/** RDMA READ: data, order, access checks and failures. */
public abstract class ReadContract extends VerbsContract {
  private static final int LENGTH = 100_000;

  @Test
  void shouldReadThePeersMemory() throws Exception {
    Pair pair = connect();
    Node.Block source = server.block(LENGTH, 42, Node.READABLE);
    Node.Block sink = client.block(LENGTH, 0, Node.SINK);
    pair.client().postSend(sink.readFrom(77, source.region()));
    Result read = result(client);
    assertThat(read)
        .isEqualTo(
            new Result(77, WorkStatus.SUCCESS, pair.client().number(), Opcode.READ, LENGTH, null));
    assertThat(sink.bytes()).isEqualTo(source.bytes());
  }

  /** Devices and kernels that do not know the hint pass as well. */
  @Test
  void shouldReadIntoMemoryWithRelaxedOrdering() throws Exception {
    Set<AccessFlag> relaxed = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING);
    Pair pair = connect();
    Node.Block source = server.block(LENGTH, 42, Node.READABLE);
    Node.Block sink = client.block(LENGTH, 0, relaxed);
    assertThat(sink.region().access()).isEqualTo(relaxed);
    read(client, pair.client(), sink, source.region());
    assertThat(sink.bytes()).isEqualTo(source.bytes());
  }

  @Test
  void shouldReadAPartIntoAPart() throws Exception {
    Pair pair = connect();
    Node.Block source = server.block(LENGTH, 42, Node.READABLE);
    source.memory().slice(500, 3).put(new byte[] {1, 2, 3});
    Node.Block sink = client.block(10, 9, Node.SINK);
    pair.client().postSend(sink.read(1, source.region(), 500, 4, 3));
    assertThat(result(client).bytes()).isEqualTo(3);
    assertThat(sink.bytes()).containsExactly(9, 9, 9, 9, 1, 2, 3, 9, 9, 9);
  }

  @Test
  void shouldCompleteManyReadsInTheOrderPosted() throws Exception {
    Pair pair = connect();
    Node.Block source = server.block(1 << 20, 3, Node.READABLE);
    Node.Block sink = client.block(1 << 20, 0, Node.SINK);
    WorkRequest[] reads = new WorkRequest[Node.DEPTH];
    for (int i = 0; i < reads.length; i++) {
      reads[i] = sink.read(i, source.region(), 0, 0, i % 2 == 0 ? 1 << 20 : 1);
    }
    assertThat(pair.client().postSend(reads, 0, reads.length)).isEqualTo(reads.length);
    for (int i = 0; i < reads.length; i++) {
      assertThat(result(client).id()).isEqualTo(i);
    }
  }

  @Test
  void shouldReadNoBytesFromAnyAddress() throws Exception {
    Pair pair = connect();
    pair.client().postSend(new WorkRequest(1).read(5, 1, 1).signalled());
    assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
  }

  @Test
  void shouldRefuseKeysThatWereNeverIssuedOrAreNotValidAnyMore() throws Exception {
    Pair[] pairs = {connect(), connect(), connect()};
    Node.Block source = server.block(LENGTH, 42, Node.READABLE);
    MemoryRegion region = source.region();
    long key = region.remote().remoteKey();
    assertRefused(pairs[0], region.address(), key + 1, LENGTH);
    region.close();
    assertRefused(pairs[1], region.address(), key, LENGTH);
    server.domain.register(source.memory(), 0, LENGTH, Node.READABLE);
    assertRefused(pairs[2], region.address(), key, LENGTH);
  }

  @Test
  void shouldRefuseBytesOutsideTheRegion() throws Exception {
    Pair[] pairs = {connect(), connect(), connect()};
    Node.Block source = server.block(LENGTH, 42, Node.READABLE);
    MemoryRegion narrow = server.domain.register(source.memory(), 10, 100, Node.READABLE);
    long key = narrow.remote().remoteKey();
    assertRefused(pairs[0], narrow.address() - 1, key, 10);
    assertRefused(pairs[1], narrow.address() + 1, key, 100);
    assertRefused(pairs[2], -10, key, 100);
  }

  @Test
  void shouldRefuseARegionWithoutRemoteRead() throws Exception {
    assumeConforms(Deviation.REMOTE_READ_IS_NOT_CHECKED);
    Node.Block source = server.block(LENGTH, 42, Node.SINK);
    MemoryRegion region = source.region();
    assertRefused(connect(), region.address(), region.remote().remoteKey(), 10);
  }

  @Test
  void shouldRefuseARegionOfAnotherProtectionDomain() throws Exception {
    Node.Block source = server.block(LENGTH, 42, Node.READABLE);
    MemoryRegion foreign =
        server
            .device
            .allocateProtectionDomain()
            .register(source.memory(), 0, LENGTH, Node.READABLE);
    assertRefused(connect(), foreign.address(), foreign.remote().remoteKey(), 10);
  }

  @Test
  void shouldRefuseWhenTheQueuePairLosesRemoteRead() throws Exception {
    assumeCan(Capability.QUEUE_PAIR_ACCESS);
    Node.Block source = server.block(LENGTH, 42, Node.READABLE);
    Node.Block sink = client.block(10, 0, Node.SINK);
    Pair pair = connect();
    read(client, pair.client(), sink, source.region());
    pair.server().setRemoteAccess(Set.of());
    MemoryRegion region = source.region();
    WorkStatus refusal =
        engine().deviates(Deviation.QUEUE_PAIR_ACCESS_IS_AN_INVALID_REQUEST)
            ? WorkStatus.REMOTE_INVALID_REQUEST
            : refusal();
    assertRefused(pair, region.address(), region.remote().remoteKey(), 10, refusal);
  }

  @Test
  void shouldFailAReadWhenThePeersQueuePairDoesNotAnswer() throws Exception {
    var fewRetries = new ConnectionParameters(new byte[0], 16, 2, 7, 14, ANSWER_TIMEOUT);
    Pair pair = connect(client.settings(), server.settings(), fewRetries);
    Node.Block source = server.block(10, 42, Node.READABLE);
    Node.Block sink = client.block(10, 0, Node.SINK);
    pair.server().close();
    pair.client().postSend(sink.readFrom(1, source.region()));
    if (engine().deviates(Deviation.REFUSALS_ARE_FLUSHES)) {
      // The transport ends the connection, which this end learns by an event.
      assertThat(result(client).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    } else {
      // Without events: this end must not learn that the peer has ended the connection.
      spinUntil(() -> client.pollQueue() > 0);
      WorkStatus status = client.results.remove().status();
      if (engine().deviates(Deviation.QUEUE_PAIRS_END_THEIR_CONNECTION)) {
        assertThat(status).isIn(WorkStatus.RETRY_EXCEEDED, WorkStatus.FLUSH_ERROR);
      } else {
        assertThat(status).isEqualTo(WorkStatus.RETRY_EXCEEDED);
      }
    }
    assertThat(pair.client().state()).isEqualTo(QueuePairState.ERROR);
    assertThat(sink.bytes()).containsOnly(0);
    pair.client().postSend(sink.readFrom(2, source.region()));
    assertThat(result(client).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    event(client, ConnectionEvent.Type.DISCONNECTED);
    assertThat(sink.bytes()).containsOnly(0);
  }

  @Test
  void shouldRefuseUntilTheInitiatorGivesRemoteRead() throws Exception {
    assumeCan(Capability.QUEUE_PAIR_ACCESS);
    Node.Block source = client.block(LENGTH, 42, Node.READABLE);
    Node.Block sink = server.block(10, 0, Node.SINK);
    Pair given = connect(client.settings(Set.of()), server.settings());
    given.client().setRemoteAccess(Set.of(AccessFlag.REMOTE_READ));
    read(server, given.server(), sink, source.region());

    Pair closed = connect(client.settings(Set.of()), server.settings());
    closed.server().postSend(sink.readFrom(2, source.region()));
    assertThat(result(server).status()).isNotEqualTo(WorkStatus.SUCCESS);
  }

  @Test
  void shouldReportThatRemoteAccessCannotBeChanged() throws Exception {
    Pair pair = connect();
    if (client.device.info().can(Capability.QUEUE_PAIR_ACCESS)) {
      pair.client().setRemoteAccess(Set.of());
      assertThatThrownBy(() -> pair.client().setRemoteAccess(Set.of(AccessFlag.LOCAL_WRITE)))
          .isInstanceOf(IllegalArgumentException.class);
    } else {
      assertThatThrownBy(() -> pair.client().setRemoteAccess(Set.of()))
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }

  @Test
  void shouldFailWhenTheSinkMayNotBeWritten() throws Exception {
    Pair pair = connect();
    Node.Block source = server.block(10, 42, Node.READABLE);
    Node.Block sink = client.block(10, 0, Set.of());
    pair.client().postSend(sink.readFrom(1, source.region()));
    assertThat(result(client).status()).isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
  }

  @Test
  void shouldFlushAllOtherWorkWhenAReadFails() throws Exception {
    Pair pair = connect();
    Node.Block source = server.block(10, 42, Node.READABLE);
    Node.Block sink = client.block(10, 0, Node.SINK);
    pair.client().postReceive(sink.receive(100));
    WorkRequest[] reads = {
      sink.readFrom(0, source.region()),
      new WorkRequest(1).read(1, 1, 1).local(sink.region(), 0, 10),
      sink.readFrom(2, source.region()),
      sink.send(3)
    };
    pair.client().postSend(reads, 0, reads.length);
    assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
    until(() -> client.results.size() == 4);
    // Sends complete in order; the receive may complete at any time.
    client.results.removeIf(
        flushed -> flushed.id() == 100 && flushed.status() == WorkStatus.FLUSH_ERROR);
    Result failed = result(client);
    assertThat(failed.id()).isEqualTo(1);
    assertThat(failed.status()).isEqualTo(refusal());
    for (int i = 2; i < 4; i++) {
      Result flushed = result(client);
      assertThat(flushed.id()).isEqualTo(i);
      assertThat(flushed.status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    }
    assertThat(pair.client().state()).isEqualTo(QueuePairState.ERROR);
    assertThat(pair.client().postSend(sink.send(4))).isTrue();
    Result late = result(client);
    assertThat(late.id()).isEqualTo(4);
    assertThat(late.status()).isEqualTo(WorkStatus.FLUSH_ERROR);
  }

  private void assertRefused(Pair pair, long address, long key, int length) throws Exception {
    assertRefused(pair, address, key, length, refusal());
  }

  private void assertRefused(Pair pair, long address, long key, int length, WorkStatus refusal)
      throws Exception {
    Node.Block sink = client.block(LENGTH, 9, Node.SINK);
    byte[] before = sink.bytes();
    pair.client()
        .postSend(
            new WorkRequest(1).read(1, address, key).local(sink.region(), 0, length).signalled());
    assertThat(result(client).status()).isEqualTo(refusal);
    assertThat(pair.client().state()).isEqualTo(QueuePairState.ERROR);
    assertThat(sink.bytes()).isEqualTo(before);
  }
}
