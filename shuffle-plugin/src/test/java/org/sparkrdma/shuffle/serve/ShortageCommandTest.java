// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class ShortageCommandTest {
  private final Queue<Runnable> submitted = new ArrayDeque<>();
  private final List<Long> madeRoom = new ArrayList<>();
  private final ShortageCommand shortage = new ShortageCommand(submitted::add, this::makeRoom);

  /** Number of calls after which all room is made. */
  private int callsLeft = 1;

  /** Number of calls that make a part of the room and end with an Error. */
  private int errorsLeft;

  private boolean makeRoom(long lengthBytes) {
    madeRoom.add(lengthBytes);
    if (errorsLeft > 0) {
      errorsLeft--;
      throw new OutOfMemoryError("Java heap space");
    }
    callsLeft--;
    return callsLeft > 0;
  }

  @Test
  void shouldMakeRoomOnceForTheLargestOfManyShortages() {
    for (long lengthBytes : new long[] {10, 30, 20}) {
      shortage.accept(lengthBytes);
    }

    assertThat(submitted).hasSize(1);
    submitted.remove().run();
    assertThat(madeRoom).containsExactly(30L);
  }

  @Test
  void shouldMakeRoomAgainForAShortageAfterTheCommandBegan() {
    shortage.accept(10);
    submitted.remove().run();

    shortage.accept(5);

    submitted.remove().run();
    assertThat(madeRoom).containsExactly(10L, 5L);
  }

  @Test
  void shouldMakeTheRestOfTheRoomInALaterCommand() {
    callsLeft = 3;
    shortage.accept(10);
    submitted.remove().run();
    assertThat(submitted).as("other work comes first").isEmpty();
    shortage.continueLater();
    submitted.remove().run();

    shortage.accept(20);
    shortage.continueLater();
    assertThat(submitted).as("one command for both").hasSize(1);
    submitted.remove().run();

    shortage.continueLater();
    assertThat(submitted).as("all room is made").isEmpty();
    assertThat(madeRoom).containsExactly(10L, 10L, 20L);
  }

  @Test
  void shouldMakeTheRestOfTheRoomAfterAnErrorHasEndedACommand() {
    errorsLeft = 1;
    callsLeft = 2;
    shortage.accept(10);
    assertThatThrownBy(submitted.remove()::run).isInstanceOf(OutOfMemoryError.class);

    shortage.continueLater();
    submitted.remove().run();
    shortage.continueLater();
    submitted.remove().run();
    shortage.continueLater();

    assertThat(submitted).as("all room is made").isEmpty();
    assertThat(madeRoom).containsExactly(10L, 10L, 10L);
  }

  @Test
  void shouldNotRepeatACommandForEverThatEndsWithErrors() {
    errorsLeft = Integer.MAX_VALUE;
    for (int shortages = 1; shortages <= 2; shortages++) {
      shortage.accept(10);
      while (!submitted.isEmpty()) {
        assertThatThrownBy(submitted.remove()::run).isInstanceOf(OutOfMemoryError.class);
        shortage.continueLater();
      }
      assertThat(madeRoom).hasSize(shortages * ShortageCommand.MAX_FAILURES);
    }
    errorsLeft = 0;
    shortage.accept(20);
    submitted.remove().run();
    assertThat(madeRoom).endsWith(20L);
  }

  @Test
  void shouldMakeRoomAfterACommandCouldNotBeSubmitted() {
    boolean[] noMemory = {true};
    ShortageCommand fails =
        new ShortageCommand(
            command -> {
              if (noMemory[0]) {
                throw new OutOfMemoryError("Java heap space");
              }
              submitted.add(command);
            },
            this::makeRoom);
    assertThatThrownBy(() -> fails.accept(10)).isInstanceOf(OutOfMemoryError.class);

    noMemory[0] = false;
    fails.accept(20);

    submitted.remove().run();
    assertThat(madeRoom).containsExactly(20L);
  }
}
