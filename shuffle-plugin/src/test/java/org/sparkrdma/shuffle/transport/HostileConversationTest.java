// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.transport.TestExecutor.Options;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Messages;

/**
 * Random conversations of an executor with a peer that may break the protocol, by seeds. Each block
 * is answered once and has the right bytes if it was read, the executor stays in service, an honest
 * peer is not accused, and nothing leaks.
 */
@Tag("slow")
@Timeout(300)
class HostileConversationTest {
  /** Conversations of the everyday build; the fuzz profile names more. */
  private static final int CONVERSATIONS = Integer.getInteger("fuzz.tries", 1_000) / 10;

  private static final double[] LIES = {0, 0.05, 0.3, 0.8};
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(20);

  @TempDir private Path directory;
  private final AtomicLong passedNs = new AtomicLong();
  private Random random;

  private Options options(long incarnation) {
    return new Options(incarnation)
        .requestTimeout(REQUEST_TIMEOUT)
        .connectTimeout(Duration.ofSeconds(10))
        .nanoClock(() -> System.nanoTime() + passedNs.get());
  }

  private static List<BlockRange> blocks(int count) {
    return LongStream.range(0, count).mapToObj(map -> new BlockRange(0, map, 0, 1)).toList();
  }

  // A hostile server.

  @Test
  void shouldAnswerEachBlockOnceForAnyMessagesOfAServer() throws Exception {
    try (TestExecutor reader = new TestExecutor(directory, options(1));
        BarePeer server = new BarePeer(2)) {
      for (int seed = 0; seed < CONVERSATIONS; seed++) {
        random = new Random(seed);
        server.become(1_000 + seed);
        long errors = reader.count(Counter.PROTOCOL_ERRORS);
        boolean lied = converse(reader, server, LIES[seed % LIES.length]);
        assertThat(lied || reader.count(Counter.PROTOCOL_ERRORS) == errors)
            .as("no accusation of an honest server, seed %s", seed)
            .isTrue();
        assertThat(reader.losses()).as("seed %s", seed).isEmpty();
      }
    }
  }

  /** One fetch over one connection; returns whether the server has lied. */
  private boolean converse(TestExecutor reader, BarePeer server, double lies) throws Exception {
    int[] lengths = random.ints(1 + random.nextInt(300), 1, 40_000).toArray();
    CollectedBlocks wanted = reader.fetch(server.endpoint(), blocks(lengths.length));
    server.acceptAndProve();
    boolean lied = false;
    Locate next = server.awaitLocate(wanted);
    for (long lease = 1; next != null; lease++) {
      boolean lie = random.nextDouble() < lies;
      lied |= lie;
      if (lie) {
        lie(server, next, lengths, lease);
      } else {
        answer(server, next, lengths).send(lease);
      }
      next = server.awaitLocate(wanted);
    }
    wanted.await();
    for (int i = 0; i < lengths.length; i++) {
      if (wanted.wasRead(i)) {
        assertThat(wanted.bytes(i)).isEqualTo(BarePeer.content(lengths[i]));
      }
    }
    return lied;
  }

  /** A right answer, which may end early. */
  private BarePeer.Answer answer(BarePeer server, Locate to, int... lengths) {
    BarePeer.Answer answer = server.answer(to.requestId());
    int last = random.nextInt(to.blockCount());
    for (int i = 0; i <= last; i++) {
      int whole = lengths[(int) to.mapId(i)];
      long from = to.startOffset(i);
      if (random.nextInt(20) == 0) {
        answer.byTcp(i, Located.Kind.values()[1 + random.nextInt(3)]);
      } else {
        int length = (int) Math.min(whole - from, 1 + random.nextInt(40_000));
        answer.extent(i, from, length, whole);
      }
    }
    return answer;
  }

  /** Lies about blocks are left out that no reader can detect, such as another length. */
  private void lie(BarePeer server, Locate to, int[] lengths, long lease) {
    long id = to.requestId();
    int whole = lengths[(int) to.mapId(0)];
    long from = to.startOffset(0);
    int left = (int) (whole - from);
    switch (random.nextInt(16)) {
      case 0 -> passedNs.addAndGet(REQUEST_TIMEOUT.plusMillis(1).toNanos());
      case 1 -> server.sendReleased();
      case 2 -> answer(server, to, lengths).send(0);
      case 3 -> answer(server, to, lengths).send(lease, random.nextInt(10_000) - 1_000);
      case 4 -> server.answer(random.nextLong()).extent(0, from, left, whole).send(lease);
      case 5 -> server.answer(id).send(lease);
      case 6 -> server.answer(id).extent(0, from + 1, left, whole + 1).send(lease);
      case 7 -> server.answer(id).extent(0, from, 0, whole).send(lease);
      case 8 -> server.answer(id).extent(0, from, left, Long.MAX_VALUE).send(lease);
      case 9 -> server.answer(id).extent(to.blockCount(), 0, 1, 1).send(lease);
      case 10 -> server.answer(id).unreadable(0, whole).send(lease);
      case 11 -> {
        server.send(answer(server, to, lengths).encode(lease, 60_000));
        server.send(answer(server, to, lengths).encode(lease + 1, 60_000));
      }
      case 12 ->
          server.answer(id).extent(0, from, left, whole).extent(0, from, left, whole).send(1);
      case 13 -> server.end();
      case 14 -> server.send(changed(answer(server, to, lengths).encode(lease, 60_000)));
      default -> server.send(garbage());
    }
  }

  /** The message with another length or another type. */
  private byte[] changed(byte[] message) {
    if (random.nextBoolean()) {
      return Arrays.copyOf(message, random.nextInt(message.length + 20));
    }
    message[0] = (byte) random.nextInt(256);
    return message;
  }

  private byte[] garbage() {
    byte[] bytes = new byte[random.nextInt(200)];
    random.nextBytes(bytes);
    if (bytes.length > 0) {
      bytes[0] = (byte) random.nextInt(13);
    }
    return bytes;
  }

  // A hostile reader.

  @Test
  void shouldServeAnHonestReaderBesideAnyMessagesOfAnother() throws Exception {
    try (TestExecutor server = new TestExecutor(directory, options(1));
        TestExecutor honest = new TestExecutor(directory, options(2));
        BarePeer hostile = new BarePeer(3)) {
      for (int map = 0; map < 8; map++) {
        server.outputs().write(map, new Random(map), 20_000, 1_000);
      }
      for (int seed = 0; seed < CONVERSATIONS; seed++) {
        random = new Random(seed);
        talk(server, hostile, LIES[seed % LIES.length]);
        List<BlockRange> all = blocks(8);
        CollectedBlocks read = honest.fetch(server.endpoint(), all).await();
        for (int i = 0; i < 8; i++) {
          assertThat(read.bytes(i)).isEqualTo(server.outputs().expected(all.get(i)));
        }
        assertThat(server.losses()).as("seed %s", seed).isEmpty();
      }
      assertThat(honest.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    }
  }

  private void talk(TestExecutor server, BarePeer hostile, double lies) throws Exception {
    if (random.nextDouble() < lies) {
      // It may break the set-up as well.
      assertThat(hostile.connect(server.endpoint())).isTrue();
      if (random.nextBoolean()) {
        hostile.send(hostile.request(server.endpoint(), new byte[0], hostile.endpoint()));
      }
    } else {
      hostile.prove(server.endpoint());
    }
    List<Long> leases = new ArrayList<>();
    for (int i = 0; i < 20 && !hostile.hasEnded(); i++) {
      if (random.nextDouble() < lies) {
        hostile.send(wrongRequest(leases));
      } else {
        request(hostile, leases);
      }
    }
    hostile.end();
  }

  private void request(BarePeer hostile, List<Long> leases) {
    boolean release = !leases.isEmpty() && random.nextInt(3) == 0;
    BlockRange block = new BlockRange(0, random.nextInt(10), random.nextInt(2), 2);
    hostile.send(
        release ? BarePeer.release(leases.remove(0)) : BarePeer.locate(random.nextLong(), block));
    byte[] answer = hostile.nextMessage();
    if (answer != null && answer[0] == Messages.LOCATED) {
      Located.Decoder located = new Located.Decoder().begin(ByteBuffer.wrap(answer));
      if (located.leaseId() != 0) {
        leases.add(located.leaseId());
        assertThat(located.nextExtent()).isTrue();
        assertThat(hostile.read(located) || hostile.hasEnded()).isTrue();
      }
    }
  }

  private byte[] wrongRequest(List<Long> leases) {
    BlockRange block = new BlockRange(0, random.nextInt(10), 0, 1);
    return switch (random.nextInt(5)) {
      case 0 -> changed(BarePeer.locate(random.nextLong(), block));
      case 1 -> changed(BarePeer.release(random.nextLong(), 1));
      case 2 -> BarePeer.release(random.nextLong(), leases.isEmpty() ? 0 : leases.get(0));
      case 3 -> BarePeer.locate(1, block, random.nextLong());
      default -> garbage();
    };
  }
}
