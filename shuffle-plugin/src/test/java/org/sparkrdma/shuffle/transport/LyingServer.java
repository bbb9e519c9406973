// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.sparkrdma.fuzz.DecoderGuard.require;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Release;

/**
 * A server that breaks the protocol with a given probability: its messages stay well formed but
 * have wrong content. Deterministic by its seed.
 */
final class LyingServer {
  private static final int MESSAGE_BYTES = 16 << 10;
  private static final int LEASE_MS = 60_000;

  /** Those about the content of a LOCATED. */
  private static final List<Lie> CONTENT_LIES =
      List.copyOf(EnumSet.range(Lie.OTHER_BLOCK_LENGTH, Lie.SUMS_OF_OTHER_PARTITIONS));

  private final Random random;
  private final double lies;
  private final Map<Lie, Long> sent;
  private final int[] blockBytes;
  private final List<Long> locatesSeen = new ArrayList<>();
  private final List<Long> releasesSeen = new ArrayList<>();
  private long nextLease = 1;
  private int creditsLeft;
  private boolean lied;

  /** An answer's entry for a block or a part of it. */
  private record AnswerPiece(
      int block, Located.Kind kind, int lengthBytes, long from, long blockBytes, int sums) {}

  /**
   * @param lies probability of a wrong answer
   * @param blocks number of its blocks
   * @param credits maximum credits that the reader may get
   * @param sent counts the wrong messages of each kind
   */
  LyingServer(Random random, double lies, int blocks, int credits, Map<Lie, Long> sent) {
    this.random = random;
    this.creditsLeft = credits;
    this.lies = lies;
    this.sent = sent;
    this.blockBytes = new int[blocks];
    for (int i = 0; i < blocks; i++) {
      blockBytes[i] = random.nextInt(4) == 0 ? random.nextInt(3) : random.nextInt(150_000);
    }
  }

  /** Whether it has sent a wrong message so far. */
  boolean hasLied() {
    return lied;
  }

  int blockBytes(int block) {
    return blockBytes[block];
  }

  /** A message before the proof, when no request is open. */
  byte[] earlyMessage() {
    lied = true;
    if (random.nextBoolean()) {
      count(Lie.EARLY_RELEASED);
      return released(1);
    }
    count(Lie.EARLY_LOCATED);
    int whole = blockBytes[0];
    AnswerPiece all = new AnswerPiece(0, Located.Kind.LOCATED, whole, 0, whole, 0);
    return located(1, List.of(all), nextLease++, LEASE_MS, 0);
  }

  /** Answers to a RELEASE: one, when it is honest. */
  List<byte[]> onRelease(ByteBuffer message) {
    Release release = Release.decode(message);
    releasesSeen.add(release.requestId());
    if (!lie()) {
      return List.of(HostileServer.released(release.requestId(), credits(release)));
    }
    if (random.nextInt(4) == 0) {
      int tooMany = creditsLeft + 1 + random.nextInt(Release.MAX_CREDITS - creditsLeft);
      count(Lie.TOO_MANY_CREDITS);
      return List.of(HostileServer.released(release.requestId(), tooMany));
    }
    return wrongMessages(release.requestId(), true);
  }

  /** Answers to a LOCATE: one, when it is honest. */
  List<byte[]> onLocate(ByteBuffer message) {
    Locate locate = Locate.decode(message);
    locatesSeen.add(locate.requestId());
    List<AnswerPiece> honest = honest(locate);
    if (!lie()) {
      return List.of(located(locate.requestId(), honest, lease(honest), LEASE_MS, 0));
    }
    if (random.nextInt(4) == 0) {
      return wrongMessages(locate.requestId(), false);
    }
    return List.of(lieAbout(locate, honest));
  }

  /** Credits that an honest answer grants. */
  private int credits(Release release) {
    int granted = release.requestsCredits() ? random.nextInt(creditsLeft + 1) : 0;
    creditsLeft -= granted;
    return granted;
  }

  /** The reader has returned a credit. */
  void onReturn() {
    creditsLeft++;
  }

  private void count(Lie lie) {
    sent.merge(lie, 1L, Long::sum);
  }

  private boolean lie() {
    boolean lies = random.nextDouble() < this.lies;
    lied |= lies;
    return lies;
  }

  private long lease(List<AnswerPiece> pieces) {
    boolean leased = pieces.stream().anyMatch(s -> s.kind == Located.Kind.LOCATED);
    return leased ? nextLease++ : 0;
  }

  private List<AnswerPiece> honest(Locate locate) {
    List<AnswerPiece> pieces = new ArrayList<>();
    int bytes = Located.HEADER_BYTES;
    for (int i = 0; i < locate.blockCount(); i++) {
      int whole = blockBytes[(int) locate.mapId(i)];
      long from = locate.startOffset(i);
      int kind = random.nextInt(20);
      if (kind < 2 && from < whole) {
        pieces.add(
            new AnswerPiece(i, kind == 0 ? Located.Kind.BUSY : Located.Kind.UNKNOWN, 0, 0, 0, 0));
        continue;
      }
      do {
        int left = (int) (whole - from);
        int length = Math.min(left, 4_096 + random.nextInt(60_000));
        pieces.add(new AnswerPiece(i, Located.Kind.LOCATED, length, from, whole, 0));
        from += length;
        bytes += Located.PIECE_BYTES;
      } while (from < whole && random.nextInt(8) > 0);
      // The rest is missing, as in a full answer.
      if (from < whole || bytes > MESSAGE_BYTES / 2 || random.nextInt(30) == 0) {
        break;
      }
    }
    return pieces;
  }

  /** Messages that answer no request, or another one, instead of the answer. */
  private List<byte[]> wrongMessages(long requestId, boolean toRelease) {
    List<AnswerPiece> onePiece = List.of(new AnswerPiece(0, Located.Kind.LOCATED, 10, 0, 10, 0));
    switch (random.nextInt(10)) {
      case 0 -> {
        count(Lie.NO_ANSWER);
        return List.of();
      }
      case 1 -> {
        if (!toRelease) {
          count(Lie.RELEASED_TO_A_LOCATE);
        }
        return List.of(released(requestId));
      }
      case 2 -> {
        count(Lie.RELEASED_TO_NO_REQUEST);
        return List.of(released(random.nextLong()));
      }
      case 3 -> {
        count(Lie.LOCATED_TO_NO_REQUEST);
        return List.of(located(random.nextLong(), onePiece, nextLease++, LEASE_MS, 0));
      }
      case 4 -> {
        long other = any(locatesSeen);
        if (other != requestId) {
          count(Lie.LOCATED_TO_ANOTHER_LOCATE);
        }
        return List.of(located(other, onePiece, nextLease++, LEASE_MS, 0));
      }
      case 5 -> {
        if (!releasesSeen.isEmpty()) {
          count(Lie.LOCATED_TO_A_RELEASE);
        }
        return List.of(located(any(releasesSeen), onePiece, nextLease++, LEASE_MS, 0));
      }
      case 6 -> {
        long release = any(releasesSeen);
        count(Lie.RELEASED_TWICE);
        return List.of(released(release), released(release));
      }
      case 7 -> {
        count(Lie.CONFIRM);
        return List.of(new byte[] {5, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6});
      }
      case 8 -> {
        count(Lie.RETURN);
        return List.of(new byte[] {7, 0, 0, 0});
      }
      default -> {
        count(Lie.GARBAGE);
        return List.of(garbage());
      }
    }
  }

  private byte[] garbage() {
    byte[] bytes = new byte[random.nextInt(200)];
    random.nextBytes(bytes);
    if (bytes.length > 0) {
      // No LOCATE: this end serves nothing.
      bytes[0] = (byte) (2 + random.nextInt(6));
    }
    return bytes;
  }

  private long any(List<Long> ids) {
    return ids.isEmpty() ? 1 : ids.get(random.nextInt(ids.size()));
  }

  private byte[] lieAbout(Locate locate, List<AnswerPiece> honest) {
    List<AnswerPiece> pieces = new ArrayList<>(honest);
    long honestLease = lease(honest);
    long lease = honestLease;
    int leaseMs = LEASE_MS;
    int checksumKind = 0;
    int at = random.nextInt(pieces.size());
    AnswerPiece one = pieces.get(at);
    Lie lie = CONTENT_LIES.get(random.nextInt(CONTENT_LIES.size()));
    switch (lie) {
      case OTHER_BLOCK_LENGTH ->
          pieces.set(
              at, new AnswerPiece(one.block, one.kind, one.lengthBytes, one.from, length(), 0));
      case LOCATED_AND_BUSY ->
          pieces.add(at + 1, new AnswerPiece(one.block, Located.Kind.BUSY, 0, 0, 0, 0));
      case LOCATED_AND_UNKNOWN ->
          pieces.add(at + 1, new AnswerPiece(one.block, Located.Kind.UNKNOWN, 0, 0, 0, 0));
      case EMPTY_PIECE ->
          pieces.set(at, new AnswerPiece(one.block, one.kind, 0, one.from, one.blockBytes, 0));
      case LEASE_OF_ANOTHER_ANSWER -> lease = 1L + random.nextInt((int) nextLease);
      case NO_LEASE -> lease = 0;
      case OTHER_ORDER -> Collections.shuffle(pieces, random);
      case OVERLAP -> pieces.set(at, moved(one, -1 - random.nextInt(100)));
      case GAP -> pieces.set(at, moved(one, 1 + random.nextInt(100)));
      case MORE_BLOCKS ->
          pieces.add(
              new AnswerPiece(
                  locate.blockCount() + random.nextInt(3), Located.Kind.LOCATED, 10, 0, 10, 0));
      case PIECE_TWICE -> pieces.add(at, one);
      case OTHER_LEASE_TIME -> leaseMs = random.nextInt(4_000) - 1_000;
      case NO_PIECES -> pieces.clear();
      case OTHER_CHECKSUM -> checksumKind = random.nextInt(4);
      case OTHER_PIECE_LENGTH ->
          pieces.set(
              at, new AnswerPiece(one.block, one.kind, length(), one.from, one.blockBytes, 0));
      case SUMS_OF_OTHER_PARTITIONS ->
          pieces.set(at, new AnswerPiece(one.block, one.kind, 1, one.from, one.blockBytes, 2));
      default -> throw new IllegalStateException("not about content: " + lie);
    }
    byte[] message = located(locate.requestId(), pieces, lease, leaseMs, checksumKind);
    // Some of these changes may leave the message as it was, such as another order of one piece.
    if (!Arrays.equals(message, located(locate.requestId(), honest, honestLease, LEASE_MS, 0))) {
      count(lie);
    }
    return message;
  }

  private static AnswerPiece moved(AnswerPiece piece, int by) {
    return new AnswerPiece(
        piece.block, piece.kind, piece.lengthBytes, piece.from + by, piece.blockBytes, piece.sums);
  }

  private int length() {
    return random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(200_000);
  }

  private static byte[] released(long requestId) {
    return HostileServer.released(requestId, 0);
  }

  private byte[] located(
      long requestId, List<AnswerPiece> pieces, long lease, int leaseMs, int checksumKind) {
    ByteBuffer bytes = ByteBuffer.allocate(MESSAGE_BYTES);
    Located.Encoder encoder = new Located.Encoder().begin(bytes, requestId, checksumKind);
    for (AnswerPiece one : pieces) {
      if (one.kind == Located.Kind.LOCATED) {
        encoder.located(
            one.block, 0x10_0000, 3, one.lengthBytes, one.from, one.blockBytes, one.sums);
        for (int i = 0; i < one.sums; i++) {
          encoder.sum(one.from + random.nextInt(3), random.nextLong());
        }
      } else {
        encoder.byTcp(one.block, one.kind);
      }
    }
    byte[] message = new byte[encoder.finish(lease, leaseMs)];
    require(message.length <= MESSAGE_BYTES, "a message that fits", message.length);
    bytes.get(0, message);
    return message;
  }
}
