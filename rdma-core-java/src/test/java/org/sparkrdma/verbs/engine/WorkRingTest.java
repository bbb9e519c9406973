// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkRequest;

final class WorkRingTest {
  private static final int DEPTH = 5;
  private static final long SEED = 20_261_122;

  private final WorkRing ring = new WorkRing(DEPTH);

  @Test
  void shouldTakeAsMuchWorkAsItsDepth() {
    for (int left = DEPTH; left > 0; left--) {
      assertThat(ring.room()).isEqualTo(left);
      ring.add(new WorkRequest(1).receive(left));
    }

    assertThat(ring.room()).isZero();
    assertThat(ring.isEmpty()).isFalse();
  }

  @Test
  void shouldKnowWhatTheDeviceHasNotReceived() {
    ring.add(new WorkRequest(1).receive(1));
    assertThat(ring.isWithDevice()).isFalse();

    ring.add(new WorkRequest(1).receive(2));
    ring.onPosted(1);
    assertThat(ring.isWithDevice()).isTrue();

    ring.takeBack(1);
    ring.free(0);
    assertThat(ring.isEmpty()).isTrue();
    assertThat(ring.isWithDevice()).isFalse();
  }

  @Test
  void shouldNotFindWorkThatWasFlushed() {
    int position = ring.add(new WorkRequest(1).receive(1));
    assertThat(ring.find(position)).isZero();
    assertThat(ring.length(0)).isZero();
    ring.free(position);

    assertThat(ring.find(position)).isEqualTo(-1);
  }

  @Test
  void shouldFindEachRequestByItsPositionInAnyOrderOfCompletions() {
    SplittableRandom random = new SplittableRandom(SEED);
    Deque<Long> open = new ArrayDeque<>();
    long added = 0;
    while (added < 10_000) {
      if (ring.room() > 0 && (open.isEmpty() || random.nextBoolean())) {
        ring.add(request(added));
        open.add(added++);
      } else {
        // A completion ends the unsignalled work before it.
        for (int last = random.nextInt(open.size()); last > 0; last--) {
          open.remove();
        }
        long id = open.remove();
        long position = ring.find((int) id);
        assertThat(position).isEqualTo(id);
        assertThat(ring.id(position)).isEqualTo(id);
        assertThat(ring.opcode(position)).isEqualTo(id % 2 == 0 ? Opcode.SEND : Opcode.RECEIVE);
        ring.free(position);
        assertThat(ring.room()).isEqualTo(DEPTH - open.size());
      }
    }
  }

  private static WorkRequest request(long id) {
    WorkRequest request = new WorkRequest(1);
    return id % 2 == 0 ? request.send(id) : request.receive(id);
  }
}
