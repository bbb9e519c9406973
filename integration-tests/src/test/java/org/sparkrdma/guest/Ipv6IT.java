/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.guest.cluster.StepResult;

/** A Spark cluster over two kernels that has IPv6 addresses alone in its settings. */
@Timeout(400)
final class Ipv6IT {
  @Test
  void shouldShuffleByReadBetweenIpv6Addresses() throws Exception {
    ClusterRun cluster = ClusterRun.named("ipv6");
    Map<String, StepResult> steps = cluster.run("rocev2-ipv6", "iwarp-ipv6");

    for (String application : new String[] {"rocev2-ipv6", "iwarp-ipv6"}) {
      StepResult blocks = steps.get(application + "/blocks");
      assertThat(blocks.right()).as("%s", blocks).isTrue();
      assertThat(blocks.rdmaBytes()).as("%s", blocks).isPositive();
      assertThat(blocks.rdmaBytes()).as("%s", blocks).isEqualTo(blocks.remoteBytesRead());
      assertThat(blocks.fallbacks()).as("%s", blocks).isEmpty();
    }
    for (int node = 1; node <= 2; node++) {
      assertThat(cluster.executorLogs(node))
          .contains("device rxe0 port 1 of engine ibverbs at fd99:1:0:0:0:0:0:" + node + ":")
          .contains("device siw0 port 1 of engine ibverbs at fd99:2:0:0:0:0:0:" + node + ":");
    }
  }
}
