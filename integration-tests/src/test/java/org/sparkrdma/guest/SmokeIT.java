// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.sparkrdma.guest.cluster.StepResult;

/**
 * One job and one block transfer between two kernels in one application. CI runs it with the whole
 * guest suite, and with the contract suite on the other Java version.
 */
@Tag("smoke")
@Isolated("It takes both processors.")
@Timeout(600)
final class SmokeIT {
  @Test
  void shouldSortAndTransferByRead() throws Exception {
    ClusterRun cluster = ClusterRun.named("smoke");
    StepResult tera = cluster.run("rocev2-smoke-transfer").get("rocev2-smoke-transfer/tera");

    assertThat(tera.right()).as("%s", tera).isTrue();
    assertThat(tera.rdmaBytes()).as("%s", tera).isPositive().isEqualTo(tera.remoteBytesRead());
    // It fails unless every byte comes by READ.
    assertThat(new ObjectMapper().readTree(cluster.content("rocev2-smoke-transfer.cases")))
        .isNotEmpty();
  }
}
