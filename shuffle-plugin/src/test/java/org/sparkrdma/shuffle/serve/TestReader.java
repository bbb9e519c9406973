// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.serve.ServerFixture.AnswerPiece;
import org.sparkrdma.shuffle.serve.ServerFixture.Sum;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.wire.Located.Kind;

/** Fetches blocks like a reader: requests the rest until it has all, and checks every word. */
final class TestReader {
  /** Receives the bytes of each piece, in order. */
  interface Sink {
    void onPiece(AnswerPiece piece, ServerFixture.Answer answer, int index) throws IOException;
  }

  private final ServerFixture on;
  private final long peer;
  private int answers;
  private int pieces;

  TestReader(ServerFixture on, long peer) {
    this.on = on;
    this.peer = peer;
  }

  int answers() {
    return answers;
  }

  int pieces() {
    return pieces;
  }

  /** Fetches blocks; returns the result of each. */
  List<Kind> fetch(List<Wanted> blocks, Sink sink) throws IOException {
    List<Kind> kinds = new ArrayList<>();
    List<List<Sum>> sums = new ArrayList<>();
    long[] had = new long[blocks.size()];
    blocks.forEach(
        block -> {
          kinds.add(null);
          sums.add(new ArrayList<>());
        });
    List<Long> leases = List.of();
    while (kinds.contains(null)) {
      List<Integer> open = new ArrayList<>();
      List<Wanted> asked = new ArrayList<>();
      for (int i = 0; i < blocks.size(); i++) {
        if (kinds.get(i) == null) {
          open.add(i);
          asked.add(blocks.get(i).rest(had[i]));
        }
      }
      var answer = on.ask(peer, leases, asked);
      answers++;
      assertThat(answer.malformed).isNull();
      assertThat(answer.pieces).as("an answer makes progress").isNotEmpty();
      int last = 0;
      for (int p = 0; p < answer.pieces.size(); p++) {
        AnswerPiece piece = answer.pieces.get(p);
        pieces++;
        assertThat(piece.block()).isGreaterThanOrEqualTo(last);
        last = piece.block();
        int block = open.get(piece.block());
        assertThat(kinds.get(block)).isNull();
        if (piece.kind() != Kind.LOCATED) {
          kinds.set(block, piece.kind());
          continue;
        }
        assertThat(piece.offset()).isEqualTo(had[block]);
        had[block] += piece.lengthBytes();
        sums.get(block).addAll(piece.sums());
        if (piece.lengthBytes() > 0) {
          assertThat(answer.leaseId).isNotZero();
          sink.onPiece(piece, answer, p);
        }
        if (had[block] == piece.blockBytes()) {
          kinds.set(block, Kind.LOCATED);
          assertThat(sums.get(block)).isEqualTo(expectedSums(blocks.get(block)));
        }
      }
      leases = List.of(answer.leaseId);
    }
    on.release(peer, leases.get(0));
    return kinds;
  }

  private List<Sum> expectedSums(Wanted block) {
    List<Sum> sums = new ArrayList<>();
    MapOutput output = on.outputs.get(block.shuffleId(), block.mapId());
    if (output.hasSums()) {
      for (int i = block.startReduceId(); i < block.endReduceId(); i++) {
        if (output.offset(i + 1) > output.offset(i)) {
          long end = output.offset(i + 1) - output.offset(block.startReduceId());
          sums.add(new Sum(end, output.sum(i)));
        }
      }
    }
    return sums;
  }
}
