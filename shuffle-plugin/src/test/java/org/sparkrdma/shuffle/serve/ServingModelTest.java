// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.serve.ServerFixture.Answer;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Located.Kind;

/** Thousands of random steps of several peers, with a check of the invariants after each. */
@Timeout(120)
class ServingModelTest {
  private static final int STEPS = 3_000;
  private static final int SHUFFLES = 4;
  private static final int MAPS = 12;
  private static final int PEERS = 4;
  private static final int PARTITIONS = 6;
  @TempDir Path folder;

  private ServerFixture on;
  private Random random;
  private Mode mode;
  private final List<Held> held = new ArrayList<>();
  private final Set<Integer> forgotten = new HashSet<>();
  private final Set<Integer> forgetsAwaited = new HashSet<>();

  /** An answer whose lease the peer still holds. */
  private record Held(long peer, Answer answer, List<Wanted> blocks) {}

  @ParameterizedTest
  @CsvSource({"AUTO, 1", "AUTO, 2", "WINDOW, 3", "WINDOW, 4", "COPY, 5", "AUTO, 6", "ODP, 7"})
  void shouldNeverExceedTheBudgetNorReleaseLeasedMemory(Mode mode, long seed) throws IOException {
    random = new Random(seed);
    this.mode = mode;
    long budgetBytes = ServerFixture.WINDOW * (2 + seed) + 5 * FakeDomain.PAGE;
    try (var fixture = ServerFixture.of(folder, mode, 4, budgetBytes, 2048)) {
      on = fixture;
      for (int shuffle = 0; shuffle < SHUFFLES; shuffle++) {
        for (int map = 0; map < MAPS; map++) {
          int[] lengths = random.ints(PARTITIONS, 0, 40_000).toArray();
          on.outputs.write(shuffle, map, random, random.nextBoolean(), lengths);
        }
      }
      for (int step = 0; step < STEPS; step++) {
        step();
        assertThat(on.domain.registeredBytes()).isEqualTo(on.budget.pinnedBytes());
        assertThat(on.domain.maxRegisteredBytes()).isLessThanOrEqualTo(budgetBytes);
        checkHeld();
      }
      for (long peer = 0; peer < PEERS; peer++) {
        onPeerGone(peer);
      }
      assertThat(forgetsAwaited).isEmpty();
    }
  }

  private void step() throws IOException {
    switch (random.nextInt(40)) {
      case 0 -> onPeerGone(random.nextInt(PEERS));
      case 1 -> {
        on.sleep(Duration.ofSeconds(random.nextInt(12)));
        on.domain.refuseFiles(random.nextInt(4) == 0);
      }
      case 2 -> {
        if (random.nextInt(20) == 0) {
          unregister(random.nextInt(SHUFFLES));
        }
      }
      case 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 -> {
        if (!held.isEmpty()) {
          Held end = held.remove(random.nextInt(held.size()));
          on.release(end.peer, end.answer.leaseId);
        }
      }
      default -> ask(random.nextInt(PEERS));
    }
  }

  private void ask(long peer) {
    List<Wanted> blocks = new ArrayList<>();
    for (int i = random.nextInt(6); i >= 0; i--) {
      int start = random.nextInt(PARTITIONS);
      int end = start + 1 + random.nextInt(PARTITIONS - start);
      blocks.add(Wanted.of(random.nextInt(SHUFFLES), random.nextInt(MAPS), start, end));
    }
    Answer answer = on.ask(peer, List.of(), blocks);
    for (var piece : answer.pieces) {
      int shuffle = blocks.get(piece.block()).shuffleId();
      assertThat(piece.kind() == Kind.UNKNOWN).isEqualTo(forgotten.contains(shuffle));
    }
    if (answer.leaseId != 0) {
      held.add(new Held(peer, answer, blocks));
    }
  }

  private void onPeerGone(long peer) {
    held.removeIf(h -> h.peer == peer);
    on.onPeerGone(peer);
  }

  private void unregister(int shuffle) throws IOException {
    if (forgotten.add(shuffle)) {
      forgetsAwaited.add(shuffle);
      on.outputs.delete(shuffle);
      on.server.unregisterShuffle(shuffle, () -> onForgotten(shuffle));
      on.server.doWork();
    }
  }

  /** Copies in slots may outlive their shuffle; registered files may not. */
  private void onForgotten(int shuffle) {
    forgetsAwaited.remove(shuffle);
    if (mode == Mode.WINDOW) {
      for (Held h : held) {
        assertThat(h.answer.pieces)
            .noneMatch(
                piece ->
                    piece.lengthBytes() > 0 && h.blocks.get(piece.block()).shuffleId() == shuffle);
      }
    }
  }

  private void checkHeld() throws IOException {
    for (Held h : held) {
      for (int i = 0; i < h.answer.pieces.size(); i++) {
        var piece = h.answer.pieces.get(i);
        if (piece.kind() == Kind.LOCATED && piece.lengthBytes() > 0) {
          assertThat(h.answer.isReadable(i)).isTrue();
        }
      }
    }
    if (!held.isEmpty()) {
      checkBytes(held.get(random.nextInt(held.size())));
    }
  }

  /** Reads leased memory, also of deleted files and copied slots, and compares it. */
  private void checkBytes(Held h) throws IOException {
    for (int i = 0; i < h.answer.pieces.size(); i++) {
      var piece = h.answer.pieces.get(i);
      Wanted block = h.blocks.get(piece.block());
      if (piece.lengthBytes() > 0 && !forgotten.contains(block.shuffleId())) {
        byte[] whole =
            on.outputs.expected(
                block.shuffleId(), block.mapId(), block.startReduceId(), block.endReduceId());
        int from = (int) piece.offset();
        assertThat(h.answer.read(i))
            .isEqualTo(Arrays.copyOfRange(whole, from, from + piece.lengthBytes()));
      }
    }
  }
}
