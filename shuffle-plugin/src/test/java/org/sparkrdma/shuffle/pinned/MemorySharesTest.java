// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.TransportType;

class MemorySharesTest {
  private static final long MIB = 1 << 20;

  @ParameterizedTest
  @CsvSource({
    "pool.max, 8m, 1048576, 262144",
    "pool.max, 64k, 1048576, 32768",
    "reads.bytes.max, 8k, 1073741824, 4096",
    "reads.bytes.max, 300k, 1073741824, 131072",
    "tos, 4, 1073741824, 262144",
    "tos, 4, 1048576, 262144",
  })
  void shouldCutChunksThatDoNotFit(String name, String value, long limitBytes, int expected) {
    assertThat(of(name, value, limitBytes, 4_096).chunkBytes()).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({"auto, 32, 16", "1g, 56, 28", "8m, 8, 4"})
  void shouldLeaveTheServerAPartOfWhatReadersMayHave(String pool, long receiveMib, long keptMib) {
    MemoryShares shares = of("pool.max", pool, 64 * MIB, 4_096);
    assertThat(shares.receiveMaxBytes()).isEqualTo(receiveMib * MIB);
    assertThat(shares.receiveKeptBytes()).isEqualTo(keptMib * MIB);
  }

  @ParameterizedTest
  @CsvSource({"1, 67, 8192", "128, 128, 16384", "4194304, 4095, 262144"})
  void shouldHaveQueuesWithRoomForAConnectionAtLeast(int most, int depth, long ringBytes) {
    MemoryShares shares = of("tos", "4", 64 * MIB, most);
    assertThat(shares.queueDepth()).isEqualTo(depth);
    assertThat(shares.queueRingBytes()).isEqualTo(ringBytes);
  }

  @Test
  void shouldNameTheSettingWhenNothingCouldBeServed() {
    var serve = ShuffleSettings.defaults().serve();
    assertThatThrownBy(() -> of("tos", "4", MIB, 128).require(serve))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("raise spark.shuffle.rdma.pinned.max");
    assertThatCode(() -> of("tos", "4", 2 * MIB, 128).require(serve)).doesNotThrowAnyException();
  }

  private static MemoryShares of(String name, String value, long limitBytes, int maxQueueDepth) {
    var settings = ShuffleSettings.of(Map.of("spark.shuffle.rdma." + name, value));
    var limits = new DeviceLimits(1, 1, 1, 1, maxQueueDepth, 1, 1, 1, 1, 0, 1);
    var device =
        new DeviceInfo("one0", "one", TransportType.INFINIBAND, 1, limits, Set.of(), List.of());
    return MemoryShares.of(settings.transport(), new DeviceFitness(device), limitBytes);
  }
}
