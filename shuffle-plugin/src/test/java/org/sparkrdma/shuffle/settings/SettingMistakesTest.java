// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingMistakesTest {
  @Test
  void shouldNotComparePartsOfARuleWithTheDefaultOfAWrongKey() {
    assertThat(
            SettingMistakes.of(
                Map.of(
                    "spark.shuffle.rdma.chunk.size", "100k",
                    "spark.shuffle.rdma.reads.bytes.max", "256k")))
        .singleElement()
        .asString()
        .contains("key=spark.shuffle.rdma.chunk.size value=100k");
  }

  @Test
  void shouldNameEveryContradiction() {
    assertThat(
            SettingMistakes.of(
                Map.of(
                    "spark.shuffle.rdma.lease.timeout", "5s",
                    "spark.shuffle.rdma.quarantine.min", "2m",
                    "spark.shuffle.rdma.quarantine.max", "1m",
                    "spark.shuffle.rdma.pinned.max", "1g",
                    "spark.shuffle.rdma.pool.max", "2g",
                    "spark.shuffle.rdma.chunk.size", "256k",
                    "spark.shuffle.rdma.reads.bytes.max", "256k")))
        .containsExactly(
            "bad setting: key=spark.shuffle.rdma.lease.timeout value=5000ms allowed=more than"
                + " spark.shuffle.rdma.request.timeout=30000ms",
            "bad setting: key=spark.shuffle.rdma.quarantine.max value=60000ms allowed=at least"
                + " spark.shuffle.rdma.quarantine.min=120000ms",
            "bad setting: key=spark.shuffle.rdma.pool.max value=2g allowed=at most"
                + " spark.shuffle.rdma.pinned.max=1g",
            "bad setting: key=spark.shuffle.rdma.reads.bytes.max value=256k allowed=at least 2 x"
                + " spark.shuffle.rdma.chunk.size=256k");
  }

  @Test
  void shouldNameAContradictionBesideAWrongKeyThatHasNoPartInIt() {
    assertThat(
            SettingMistakes.of(
                Map.of(
                    "spark.shuffle.rdma.mode", "sometimes",
                    "spark.shuffle.rdma.chunk.size", "256k",
                    "spark.shuffle.rdma.reads.bytes.max", "256k")))
        .hasSize(2)
        .anySatisfy(mistake -> assertThat(mistake).contains("key=spark.shuffle.rdma.mode"))
        .anySatisfy(
            mistake -> assertThat(mistake).contains("key=spark.shuffle.rdma.reads.bytes.max"));
  }
}
