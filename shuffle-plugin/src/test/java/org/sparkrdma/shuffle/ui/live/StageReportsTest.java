// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.ui.figures.BytesByPath;

class StageReportsTest {
  private final StageReports reports = new StageReports();

  @Test
  void shouldFindWhatEachReportAdds() {
    assertThat(reports.increments("1", List.of(0L, 4L, 100L, 10L, 5L)))
        .isEqualTo(Map.of(4, new BytesByPath(100, 10, 5, 0)));
    assertThat(reports.increments("1", List.of(0L, 4L, 100L, 10L, 5L))).isEmpty();
    assertThat(reports.increments("1", List.of(0L, 4L, 130L, 10L, 6L, 1L, 5L, 0L, 0L, 9L)))
        .isEqualTo(Map.of(4, new BytesByPath(30, 0, 1, 0), 5, new BytesByPath(0, 0, 9, 0)));
    assertThat(reports.increments("2", List.of(0L, 4L, 7L, 0L, 0L)))
        .as("another executor")
        .isEqualTo(Map.of(4, new BytesByPath(7, 0, 0, 0)));
  }

  @Test
  void shouldCountAStageThatAnExecutorHasForgottenFromZero() {
    reports.increments("1", List.of(0L, 4L, 100L, 0L, 0L));
    assertThat(reports.increments("1", List.of(9L, 4L, 130L, 0L, 0L)))
        .as("another number")
        .isEqualTo(Map.of(4, new BytesByPath(130, 0, 0, 0)));
    assertThat(reports.increments("1", null)).isEmpty();
    assertThat(reports.increments("1", List.of(10L, 4L, 1L, 0L, 0L)))
        .isEqualTo(Map.of(4, new BytesByPath(1, 0, 0, 0)));
  }

  @Test
  void shouldCountTheLastReportOfAnExecutorThatHasEndedOnce() {
    reports.increments("1", List.of(0L, 4L, 100L, 0L, 0L));
    reports.remove("1");
    assertThat(reports.increments("1", List.of(0L, 4L, 101L, 0L, 0L)))
        .isEqualTo(Map.of(4, new BytesByPath(1, 0, 0, 0)));
  }

  @Test
  void shouldForgetExecutorsThatHaveEnded() {
    for (int i = 0; i < 1_000; i++) {
      reports.increments("e" + i, List.of(0L, 4L, 1L, 0L, 0L));
      reports.remove("e" + i);
      reports.remove("e" + i);
    }
    assertThat(reports.size()).isEqualTo(100);
    assertThat(reports.increments("without", null)).isEmpty();
    assertThat(reports.size()).isEqualTo(100);
  }

  @Test
  void shouldCountNewExecutorsWhenItRemembersAsManyAsItMay() {
    for (int i = 0; i < StageReports.MAX_EXECUTORS + 5; i++) {
      assertThat(reports.increments("e" + i, List.of(0L, 4L, 1L, 0L, 0L))).hasSize(1);
    }
    assertThat(reports.size()).isEqualTo(StageReports.MAX_EXECUTORS);
  }
}
