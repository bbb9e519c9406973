// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;

/** Results of a block transfer between two kernels, one for each block length. */
final class TransferCases {
  private TransferCases() {}

  /** The cases that an application left, which fails unless every byte came by READ. */
  static ArrayNode byRead(ClusterRun cluster, String application) throws Exception {
    ArrayNode cases =
        (ArrayNode) new ObjectMapper().readTree(cluster.content(application + ".cases"));
    assertThat(cases)
        .isNotEmpty()
        .allSatisfy(
            one -> assertThat(one.at("/figures/throughput/median").asDouble()).isPositive());
    return cases;
  }
}
