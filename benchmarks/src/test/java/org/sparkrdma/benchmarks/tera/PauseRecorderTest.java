// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PauseRecorderTest {
  @Test
  void shouldRecordThePausesOfThisJvm() {
    PauseHistory before = PauseRecorder.ofThisJvm().history();
    System.gc();
    PauseHistory after = PauseRecorder.ofThisJvm().history();
    assertThat(after.countSince(before)).isPositive();
    assertThat(after.longestMsSince(before)).isPositive();
    assertThat(after.countSince(after)).isZero();
    assertThat(after.longestMsSince(after)).isZero();
  }

  @Test
  void shouldFindTheLongestPauseSinceAnEarlierHistory() {
    PauseRecorder recorder = new PauseRecorder(List.of(), 4);
    recorder.record(90);
    PauseHistory before = recorder.history();
    recorder.record(20);
    recorder.record(50);
    recorder.record(30);
    PauseHistory after = recorder.history();
    assertThat(after.countSince(before)).isEqualTo(3);
    assertThat(after.longestMsSince(before)).isEqualTo(50);
    assertThat(after.longestMsSince(PauseHistory.EMPTY)).isEqualTo(90);
  }

  @Test
  void shouldCountPausesWhoseLengthsItHasForgotten() {
    PauseRecorder recorder = new PauseRecorder(List.of(), 2);
    List.of(90, 20, 50, 30).forEach(recorder::record);
    assertThat(recorder.history().countSince(PauseHistory.EMPTY)).isEqualTo(4);
    assertThat(recorder.history().longestMsSince(PauseHistory.EMPTY)).isEqualTo(50);
  }
}
