// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.apache.spark.SparkConf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.device.Transport;

/** Access flags of receive memory. */
class TransportMemoryTest {
  private static TransportSettings settings(String relaxed) {
    SparkConf conf = new SparkConf(false).set("spark.shuffle.rdma.relaxed.ordering", relaxed);
    return ShuffleSettings.of(conf).transport(1 << 30);
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void shouldAskForRelaxedOrderingWhereItIsSetOnly(Transport transport) {
    Set<AccessFlag> strict = TransportMemory.sinkAccess(transport, settings("false"));
    Set<AccessFlag> relaxed = TransportMemory.sinkAccess(transport, settings("true"));

    assertThat(strict).contains(AccessFlag.LOCAL_WRITE).doesNotContain(AccessFlag.REMOTE_READ);
    assertThat(strict).doesNotContain(AccessFlag.RELAXED_ORDERING);
    assertThat(relaxed).containsAll(strict).hasSize(strict.size() + 1);
    assertThat(relaxed).contains(AccessFlag.RELAXED_ORDERING);
  }
}
