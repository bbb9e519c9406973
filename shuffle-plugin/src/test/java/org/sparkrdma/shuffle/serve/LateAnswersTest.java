// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.shuffle.serve.TwoDisks.FAST;
import static org.sparkrdma.shuffle.serve.TwoDisks.LIMITS;
import static org.sparkrdma.shuffle.serve.TwoDisks.SLOW;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The cause that an answer names when it is late and has only a part of its blocks: four are
 * requested, and it has room for three.
 */
@Timeout(60)
class LateAnswersTest {
  @TempDir Path folder;
  private TwoDisks on;

  @BeforeEach
  void create() throws IOException {
    on = new TwoDisks(folder, DiskServers.windows(1000));
  }

  @AfterEach
  void closeAndCheckForLeaks() {
    on.close();
  }

  private DiskCall askForMoreThanFits() {
    return on.locate(DiskCall.withRoomForThree(1, SLOW, SLOW, SLOW, SLOW));
  }

  @Test
  void shouldNameTheLoadWhenAnAnswerWithAPartHasOnlyWaitedForAThread() {
    DiskCall call = askForMoreThanFits();
    on.pass(LIMITS.maxHoldNs() + OpenLocates.CHECK_NS);
    on.runJobs();

    assertCause(call, false, true);
  }

  @Test
  void shouldNameTheLoadWhenAnAnswerWithAPartHasWaitedForTheServersThread() {
    on.ask(FAST, FAST, FAST, FAST);
    DiskCall call = DiskCall.withRoomForThree(1, FAST, FAST, FAST, FAST);
    on.submit(call);
    on.pass(LIMITS.maxHoldNs() + OpenLocates.CHECK_NS);

    assertCause(call, false, true);
  }

  @Test
  void shouldNameTheDiskWhenItsReadsForAnAnswerWithAPartTakeLong() {
    DiskCall call = askForMoreThanFits();
    long readNs = LIMITS.maxHoldNs() / 3 + 1;
    on.domain.beforeRegistration(file -> on.skip(readNs));
    on.runJobs();

    assertCause(call, true, false);
  }

  @Test
  void shouldNameNoCauseWhenAnAnswerWithAPartIsQuick() {
    DiskCall call = askForMoreThanFits();
    on.runJobs();

    assertCause(call, false, false);
  }

  private static void assertCause(DiskCall call, boolean disk, boolean load) {
    assertThat(call.blocks()).containsExactly(0, 1, 2);
    assertThat(call.isHeldBack()).as("the disk").isEqualTo(disk);
    assertThat(call.isDelayedByServerLoad()).as("the load").isEqualTo(load);
  }
}
