// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.soak.Sample.Measure;

class LongLivedExecutorTest {
  private static final int SECONDS = 1_000;
  private static final int INTERVAL = 5;

  @Test
  void shouldJudgeOnlyThoseThatLivedFromTheWarmUpToTheEnd() {
    List<Sample> all = new ArrayList<>();
    for (int second = 0; second < SECONDS; second += INTERVAL) {
      all.add(sample(second, "lives", 100));
      if (second < 500) {
        all.add(sample(second, "killed", 100));
      } else {
        all.add(sample(second, "replacement", 100));
      }
    }
    assertThat(LongLivedExecutor.of(all, SECONDS))
        .singleElement()
        .matches(LongLivedExecutor::isFlat)
        .extracting(LongLivedExecutor::executor, LongLivedExecutor::samples)
        .containsExactly("lives", 149);
  }

  @Test
  void shouldNotPassWhenSomethingGrows() {
    List<Sample> all = new ArrayList<>();
    for (int second = 0; second < SECONDS; second += INTERVAL) {
      all.add(sample(second, "1", 100 + second / 10));
    }
    SoakReport report = report(all, null);
    assertThat(report.flat()).isFalse();
    assertThat(report.objection()).hasValueSatisfying(why -> assertThat(why).contains("not flat"));
    assertThat(report.table()).contains("GROWS");
  }

  @Test
  void shouldPassWhenOnlySparksStorageThreadsGrowAndPrintThem() {
    List<Sample> all = new ArrayList<>();
    for (int second = 0; second < SECONDS; second += INTERVAL) {
      Sample sample = sample(second, "1", 100);
      sample.values().put(Measure.STORAGE_THREADS, second / 10.0);
      all.add(sample);
    }
    SoakReport report = report(all, null);
    assertThat(report.objection()).isEmpty();
    assertThat(report.table()).contains("not judged").doesNotContain("GROWS");
  }

  @Test
  void shouldFailWhenNoExecutorLivedOrAnAnswerWasWrong() {
    assertThat(report(List.of(), null).objection())
        .hasValueSatisfying(why -> assertThat(why).contains("no executor lived"));
    assertThat(report(List.of(), "job 7, JOIN: right=1").objection())
        .hasValueSatisfying(why -> assertThat(why).contains("job 7, JOIN"));
  }

  private static SoakReport report(List<Sample> samples, String objection) {
    return new SoakReport(
        1,
        SECONDS,
        false,
        true,
        Map.of(),
        Map.of(),
        new SoakPlan.Result(Map.of(), Map.of(), objection),
        LongLivedExecutor.of(samples, SECONDS),
        samples);
  }

  private static Sample sample(double seconds, String executor, double value) {
    Map<Measure, Double> values = new EnumMap<>(Measure.class);
    for (Measure measure : Measure.values()) {
      values.put(measure, value);
    }
    return new Sample(seconds, executor, 1, values);
  }
}
