// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.benchmarks.jobs.query.QuerySuite;
import org.sparkrdma.launch.Script;

@Timeout(60)
class ShuffleJobTest {
  @Test
  void shouldBeListedByTheScript() throws Exception {
    String list = Script.run(Map.of(), "bench", "list").output();
    assertThat(list.lines().skip(1).map(line -> line.replaceAll(" +", " ")))
        .zipSatisfy(
            Arrays.asList(ShuffleJob.values()),
            (line, job) ->
                assertThat(line)
                    .startsWith(
                        "%s %s: %s ".formatted(job, job.form(), String.join(",", job.shapes()))));
  }

  @ParameterizedTest
  @EnumSource
  void shouldParseItsOwnShapes(ShuffleJob job) {
    assertThat(job.shapes()).allSatisfy(shape -> assertThat(job.workload(shape)).isNotNull());
  }

  @Test
  void shouldNameTheQueriesOfTpcds() {
    assertThat(QuerySuite.TPCDS.queries()).hasSize(103).contains("1", "14a", "14b", "99");
    assertThat(QuerySuite.TPCDS.queries())
        .allSatisfy(query -> assertThat(QuerySuite.TPCDS.text(query)).containsIgnoringCase("from"));
    assertThatThrownBy(() -> ShuffleJob.TPCDS.workload("1x32x14"))
        .hasMessageContaining("'14' in '1x32x14' must be all or a query from 1 to 99");
  }
}
