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
