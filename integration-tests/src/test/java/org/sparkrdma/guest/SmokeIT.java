// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * One job and one block transfer between two kernels in one application. CI runs it with the
 * contract suite on the newer Java version.
 */
@Tag("smoke")
@Tag("nightly")
@Isolated("It takes both processors.")
@Timeout(600)
final class SmokeIT {
  @Test
  void shouldSortAndTransferByRead() throws Exception {
    ClusterRun cluster = ClusterRun.named("smoke");
    ClusterRun.assertAllByRead(
        cluster.run("rocev2-smoke-transfer").get("rocev2-smoke-transfer/tera"));
    // It fails unless every byte comes by READ.
    assertThat(new ObjectMapper().readTree(cluster.content("rocev2-smoke-transfer.cases")))
        .isNotEmpty();
  }
}
