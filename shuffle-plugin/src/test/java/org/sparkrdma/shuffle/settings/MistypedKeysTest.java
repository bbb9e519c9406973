// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.spark.internal.config.ConfigEntry$;
import org.apache.spark.internal.config.Network$;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MistypedKeysTest {
  /** Keys that Spark's class TransportConf reads and that are in no list. */
  private static final List<String> OF_TRANSPORT =
      List.of(
          "spark.shuffle.io.mode",
          "spark.shuffle.io.preferDirectBufs",
          "spark.shuffle.io.connectionTimeout",
          "spark.shuffle.io.connectionCreationTimeout",
          "spark.shuffle.io.backLog",
          "spark.shuffle.io.numConnectionsPerPeer",
          "spark.shuffle.io.serverThreads",
          "spark.shuffle.io.clientThreads",
          "spark.shuffle.io.receiveBuffer",
          "spark.shuffle.io.sendBuffer",
          "spark.shuffle.io.maxRetries",
          "spark.shuffle.io.retryWait",
          "spark.shuffle.io.lazyFD",
          "spark.shuffle.io.enableVerboseMetrics",
          "spark.shuffle.io.enableTcpKeepAlive",
          "spark.shuffle.sasl.timeout",
          "spark.shuffle.maxChunksBeingTransferred",
          "spark.shuffle.server.chunkFetchHandlerThreadsPercent");

  @ParameterizedTest
  @CsvSource({
    "shuffle.rdma.mode, mode",
    "spark.shuffle.rmda.mode, mode",
    "shuffle.rmda.mode, mode",
    "spark.shufle.rmda.mode, mode",
    "rmda.mode, mode",
    "spark.shuffle.rdam.pined.max, pinned.max",
    "spark.shuffle.pinned.max, pinned.max",
    "Spark.Shuffle.Rdma.Mode, mode",
    "spark.rdma.mode, mode",
    "pinned.max, pinned.max",
    "spark.shuffle.rmda.soft.latency, soft.latency",
  })
  void shouldFindTheKeyThatIsMeant(String key, String meant) {
    assertThat(MistypedKeys.of(Set.of(key)))
        .containsOnlyKeys(key)
        .containsEntry(key, Optional.of(ShuffleSetting.PREFIX + meant));
  }

  @Test
  void shouldFindAMistypedKeyOfTheManager() {
    assertThat(MistypedKeys.of(Set.of("spark.shuffle.manger")))
        .containsEntry("spark.shuffle.manger", Optional.of("spark.shuffle.manager"));
  }

  @Test
  void shouldFindAKeyAboutRdmaWithoutOneThatIsMeant() {
    assertThat(MistypedKeys.of(Set.of("spark.rdma.cards")))
        .containsOnlyKeys("spark.rdma.cards")
        .containsValue(Optional.empty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "other.key",
        "spark.shuffle.ucx.memory.preAllocateBuffers",
        "spark.rss.client.read.buffer.size",
        "spark.celeborn.client.push.timeout",
        "spark.shuffle.rdma.no.such.key"
      })
  void shouldAcceptKeysOfOthersAndLeaveKeysWithThePrefixToTheOtherChecks(String key) {
    assertThat(MistypedKeys.of(Set.of(key))).isEmpty();
  }

  @Test
  void shouldAcceptEveryKeyOfSpark() {
    Collection<String> keys = new TreeSet<>(OF_TRANSPORT);
    Stream.of(org.apache.spark.internal.config.package$.MODULE$, Network$.MODULE$)
        .forEach(loaded -> assertThat(loaded).isNotNull());
    keys.addAll(ConfigEntry$.MODULE$.knownConfigs().keySet());
    assertThat(keys)
        .hasSizeGreaterThan(300)
        .contains("spark.shuffle.manager", "spark.shuffle.push.enabled", "spark.network.timeout");
    assertThat(MistypedKeys.of(keys)).isEmpty();
  }
}
