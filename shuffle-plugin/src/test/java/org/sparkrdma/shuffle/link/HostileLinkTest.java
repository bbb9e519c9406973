// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.link.LinkExecutor.Options;
import org.sparkrdma.shuffle.link.Messages.Refusal;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.verbs.device.Capability;

/** Strangers and members that break the protocol, in both directions. */
@Timeout(60)
class HostileLinkTest {
  private static final BlockRange BLOCK = new BlockRange(0, 1, 0, 1);
  private static final byte[] NO_SECRET = {};

  @TempDir Path directory;

  private LinkExecutor server(Options options) throws Exception {
    LinkExecutor server = new LinkExecutor(directory, options);
    server.outputs().write(1, new Random(1), 1_000, 50_000);
    return server;
  }

  /** An honest reader is served as before. */
  private void assertServes(LinkExecutor server) throws Exception {
    try (LinkExecutor reader = new LinkExecutor(directory, new Options(77))) {
      LinkBlocks result = reader.fetch(server.endpoint(), List.of(BLOCK)).await();
      assertThat(result.bytes(0)).isEqualTo(server.outputs().expected(BLOCK));
    }
  }

  @Test
  void shouldServeAMemberByBareVerbs() throws Exception {
    try (LinkExecutor server = server(new Options(1));
        BareLink member = new BareLink(9)) {
      member.prove(server.endpoint());
      assertThat(member.read(member.locate(BLOCK))).isTrue();
    }
  }

  @Test
  void shouldRefuseAStrangerAndEndItsConnectionInTime() throws Exception {
    try (LinkExecutor server = server(new Options(1).connectTimeout(Duration.ofSeconds(1)));
        BareLink stranger = new BareLink(9)) {
      assertThat(stranger.connect(server.endpoint())).isTrue();
      stranger.send(stranger.request(server.endpoint(), new byte[] {1}, stranger.endpoint()));
      assertThat(Messages.refusal(ByteBuffer.wrap(stranger.awaitMessage())))
          .isEqualTo(Refusal.PROOF);
      stranger.awaitEnd();
      assertServes(server);
    }
  }

  @Test
  void shouldNotConfirmARecordedRequest() throws Exception {
    try (LinkExecutor server = server(new Options(1));
        BareLink recorder = new BareLink(9)) {
      assertThat(recorder.connect(server.endpoint())).isTrue();
      byte[] request = recorder.request(server.endpoint(), NO_SECRET, recorder.endpoint());
      recorder.send(request);
      recorder.awaitMessage();
      recorder.end();
      assertThat(recorder.connect(server.endpoint())).isTrue();
      recorder.send(request);
      byte[] answer = recorder.awaitMessage();
      if (answer[0] == Messages.ANSWER) {
        byte[] noConfirm = new byte[Messages.CONFIRM_BYTES];
        noConfirm[0] = Messages.CONFIRM;
        noConfirm[1] = Messages.PROTOCOL;
        System.arraycopy(answer, answer.length - 32, noConfirm, 8, 32);
        recorder.send(noConfirm);
        recorder.awaitEnd();
      } else {
        // The proof covers the number of the queue pair.
        assertThat(answer[0]).isEqualTo((byte) Messages.REFUSAL);
      }
      assertServes(server);
    }
  }

  @Test
  void shouldGrantNoAccessBeforeTheConfirm() throws Exception {
    try (LinkExecutor server = server(new Options(1));
        BareLink member = new BareLink(9);
        BareLink unconfirmed = new BareLink(10)) {
      assumeThat(server.device().info().can(Capability.QUEUE_PAIR_ACCESS)).isTrue();
      member.prove(server.endpoint());
      Located.Decoder piece = member.locate(BLOCK);
      assertThat(unconfirmed.connect(server.endpoint())).isTrue();
      unconfirmed.send(unconfirmed.request(server.endpoint(), NO_SECRET, unconfirmed.endpoint()));
      unconfirmed.awaitMessage();
      assertThat(unconfirmed.read(piece)).isFalse();
      assertThat(member.read(piece)).isTrue();
    }
  }

  @Test
  void shouldServeAMemberThatClaimsToBeAnotherWithoutHarmToThatOne() throws Exception {
    try (LinkExecutor server = server(new Options(1));
        LinkExecutor victim = new LinkExecutor(directory, new Options(2));
        BareLink member = new BareLink(9)) {
      LinkBlocks first = victim.fetch(server.endpoint(), List.of(BLOCK)).await();
      assertThat(first.bytes(0)).hasSize(1_000);
      assertThat(member.connect(server.endpoint())).isTrue();
      member.send(member.request(server.endpoint(), NO_SECRET, victim.endpoint()));
      assertThat(member.awaitMessage()[0]).isEqualTo((byte) Messages.ANSWER);
      LinkBlocks second = victim.fetch(server.endpoint(), List.of(BLOCK)).await();
      assertThat(second.bytes(0)).isEqualTo(server.outputs().expected(BLOCK));
      assertThat(victim.count(Counter.CONNECTIONS_CLOSED)).isZero();
    }
  }

  @Test
  void shouldLimitUnprovenConnectionsAndEndThemInTime() throws Exception {
    Options options = new Options(1).maxConnections(64).connectTimeout(Duration.ofSeconds(2));
    List<BareLink> flood = new ArrayList<>();
    try (LinkExecutor server = server(options)) {
      try {
        int accepted = 0;
        for (int i = 0; i < 20; i++) {
          flood.add(new BareLink(100 + i));
          accepted += flood.get(i).connect(server.endpoint()) ? 1 : 0;
        }
        assertThat(accepted).isLessThanOrEqualTo(16);
        // An honest reader tries again until there is room.
        assertServes(server);
      } finally {
        flood.forEach(BareLink::close);
      }
    }
  }

  @Test
  void shouldEndTheConnectionOfAMemberThatSendsHostileMessages() throws Exception {
    try (LinkExecutor server = server(new Options(1));
        BareLink member = new BareLink(9)) {
      byte[] locate = BareLink.locate(5, BLOCK);
      byte[] truncated = Arrays.copyOf(locate, locate.length - 1);
      byte[] noBlock = Arrays.copyOf(locate, Locate.HEADER_BYTES);
      byte[] negativeRange = locate.clone();
      negativeRange[negativeRange.length - 9] = -1;
      byte[] release = new byte[9];
      release[0] = Messages.RELEASE;
      byte[] releaseOfMany = new byte[8];
      releaseOfMany[0] = Messages.RELEASE;
      releaseOfMany[2] = 100;
      List<byte[]> hostile =
          List.of(
              truncated,
              noBlock,
              negativeRange,
              release,
              releaseOfMany,
              new byte[] {Messages.LOCATED, 0, 0, 0},
              new byte[] {Messages.RELEASED, 0, 0, 0, 0, 0, 0, 0},
              new byte[] {99},
              new byte[0]);
      for (byte[] message : hostile) {
        member.prove(server.endpoint());
        member.send(message);
        member.awaitEnd();
        member.end();
      }
      Random random = new Random(4);
      for (int i = 0; i < 20; i++) {
        byte[] message = new byte[random.nextInt(200)];
        random.nextBytes(message);
        member.prove(server.endpoint());
        member.send(message);
        member.awaitEnd();
        member.end();
      }
      assertServes(server);
      assertThat(server.outOfService()).isEmpty();
    }
  }

  @Test
  void shouldCountAReleaseOfAnothersLeaseAndKeepTheLease() throws Exception {
    try (LinkExecutor server = server(new Options(1));
        BareLink holder = new BareLink(9);
        BareLink thief = new BareLink(10)) {
      holder.prove(server.endpoint());
      Located.Decoder piece = holder.locate(BLOCK);
      thief.prove(server.endpoint());
      ByteBuffer out = ByteBuffer.allocate(64);
      Messages.beginRelease(out, 1).putLong(piece.leaseId());
      thief.send(Arrays.copyOf(out.array(), 16));
      Messages.checkReleased(ByteBuffer.wrap(thief.awaitMessage()));
      assertThat(holder.read(piece)).isTrue();
      assertThat(server.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    }
  }

  @Test
  void shouldEndTheConnectionOfAMemberWhoseLeaseExpires() throws Exception {
    try (LinkExecutor server = server(new Options(1).lease(Duration.ofSeconds(1)));
        BareLink member = new BareLink(9)) {
      member.prove(server.endpoint());
      Located.Decoder piece = member.locate(BLOCK);
      member.awaitEnd();
      assertThat(member.read(piece)).isFalse();
      assertThat(server.count(Counter.LEASES_EXPIRED)).isEqualTo(1);
    }
  }

  /** Answer of a hostile server to a LOCATE with this id. */
  private interface Answer {
    int write(ByteBuffer out, long requestId);
  }

  private static int located(
      ByteBuffer out, long id, int index, long address, int length, long offset, long whole) {
    Located.Encoder encoder = new Located.Encoder().begin(out, id, Located.NO_CHECKSUM);
    encoder.located(index, address, 1, length, offset, whole, 0);
    return encoder.finish(5, 60_000);
  }

  private static final List<Answer> HOSTILE_ANSWERS =
      List.of(
          (out, id) -> located(out, id + 2, 0, 1, 8, 0, 8),
          (out, id) -> located(out, id, 1, 1, 8, 0, 8),
          (out, id) -> located(out, id, 0, 1, 8, 8, 16),
          (out, id) -> located(out, id, 0, 1, 16, 0, 8),
          (out, id) -> located(out, id, 0, 1, 0, 0, 8),
          (out, id) -> located(out, id, 0, 1, -1, 0, 8),
          (out, id) -> new Located.Encoder().begin(out, id, 0).finish(0, 0),
          (out, id) -> new Located.Encoder().begin(out, id, 9).finish(0, 0),
          (out, id) -> located(out, id, 0, 1, 8, 0, 8) - 1,
          (out, id) -> {
            Located.Encoder encoder = new Located.Encoder().begin(out, id, 0);
            encoder.located(0, 1, 1, 8, 0, 8, 0);
            return encoder.finish(0, 0);
          },
          (out, id) -> {
            Located.Encoder encoder = new Located.Encoder().begin(out, id, 0);
            encoder.located(0, 1, 1, 8, 0, 16, 0);
            encoder.located(0, 1, 1, 8, 0, 16, 0);
            return encoder.finish(5, 60_000);
          },
          (out, id) -> Messages.writeReleased(out));

  @Test
  void shouldSendBlocksOfAHostileServerToTcpOnce() throws Exception {
    for (int i = 0; i < HOSTILE_ANSWERS.size(); i++) {
      try (LinkExecutor reader = new LinkExecutor(directory, new Options(2));
          BareLink server = new BareLink(9)) {
        LinkBlocks result = reader.fetch(server.endpoint(), List.of(BLOCK));
        server.acceptAndProve();
        long id = Locate.decode(ByteBuffer.wrap(server.awaitMessage())).requestId();
        ByteBuffer out = ByteBuffer.allocate(MessageSlab.MESSAGE_BYTES);
        int length = HOSTILE_ANSWERS.get(i).write(out, id);
        server.send(Arrays.copyOf(out.array(), length));
        result.await();
        assertThat(result.reason(0)).as("answer %s", i).isEqualTo(FallbackReason.PROTOCOL_ERROR);
        assertThat(reader.count(Counter.PROTOCOL_ERRORS)).as("answer %s", i).isEqualTo(1);
        assertThat(reader.outOfService()).isEmpty();
      }
    }
  }

  @Test
  void shouldSendABlockToTcpWhoseReadFails() throws Exception {
    try (LinkExecutor reader = new LinkExecutor(directory, new Options(2));
        BareLink server = new BareLink(9)) {
      LinkBlocks result = reader.fetch(server.endpoint(), List.of(BLOCK));
      server.acceptAndProve();
      long id = Locate.decode(ByteBuffer.wrap(server.awaitMessage())).requestId();
      ByteBuffer out = ByteBuffer.allocate(MessageSlab.MESSAGE_BYTES);
      server.send(Arrays.copyOf(out.array(), located(out, id, 0, 4096, 8, 0, 8)));
      assertThat(result.await().wasRead(0)).isFalse();
    }
  }

  @Test
  void shouldSendBlocksOfASilentServerToTcpAfterTheRequestTimeOut() throws Exception {
    Duration timeout = Duration.ofMillis(500);
    try (LinkExecutor reader = new LinkExecutor(directory, new Options(2).requestTimeout(timeout));
        BareLink server = new BareLink(9)) {
      LinkBlocks result = reader.fetch(server.endpoint(), List.of(BLOCK));
      server.acceptAndProve();
      assertThat(result.await().reason(0)).isEqualTo(FallbackReason.TIMEOUT);
      server.awaitEnd();
    }
  }

  @Test
  void shouldSendBlocksToTcpWhenTheServerNeverProvesItself() throws Exception {
    Duration timeout = Duration.ofMillis(500);
    try (LinkExecutor reader = new LinkExecutor(directory, new Options(2).connectTimeout(timeout));
        BareLink server = new BareLink(9)) {
      LinkBlocks result = reader.fetch(server.endpoint(), List.of(BLOCK));
      server.accept();
      assertThat(result.await().reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      server.awaitEnd();
    }
  }
}
