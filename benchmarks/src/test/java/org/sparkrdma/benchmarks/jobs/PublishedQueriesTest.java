// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.sparkrdma.launch.MisuseException;

class PublishedQueriesTest {
  @Test
  void shouldRunTheQueriesOfAShapeInTheirOrder() {
    assertThat(PublishedQueries.parse(QuerySuite.TPCDS, "1x32x77+14a+4").queries())
        .containsExactly("77", "14a", "4");
    assertThat(PublishedQueries.parse(QuerySuite.TPCH, "0.1x8xall").queries()).hasSize(22);
    assertThatThrownBy(() -> PublishedQueries.parse(QuerySuite.TPCH, "1x32x5+23"))
        .isInstanceOf(MisuseException.class)
        .hasMessage("'23' in '1x32x5+23' must be all or a query from 1 to 22");
    assertThatThrownBy(() -> ShuffleJob.TPCH.workload("1x32x5+"))
        .hasMessageContaining("'' in '1x32x5+' must be all or a query")
        .hasMessageEndingWith("write it as SCALExPARTITIONSxQUERY[+QUERY...], such as 1x32xall");
  }
}
