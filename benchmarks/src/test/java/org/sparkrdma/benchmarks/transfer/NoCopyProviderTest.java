// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

class NoCopyProviderTest {
  private final NoCopyProvider provider = new NoCopyProvider();

  @Test
  void shouldNotLoadUnlessConsentIsGivenAndVerificationIsOff() {
    assertRefused(new SparkConf(false));
    assertRefused(new SparkConf(false).set(NoCopyProvider.CONSENT, "true"));
    assertRefused(new SparkConf(false).set("spark.shuffle.rdma.verify", "false"));
    assertRefused(
        new SparkConf(false)
            .set(NoCopyProvider.CONSENT, "true")
            .set("spark.shuffle.rdma.verify", "true"));
    assertThatThrownBy(() -> provider.load(EngineSettings.none()))
        .isInstanceOf(EngineUnavailableException.class);
  }

  private void assertRefused(SparkConf conf) {
    assertThatThrownBy(() -> provider.load(EngineSettings.none(), conf))
        .isInstanceOf(EngineUnavailableException.class)
        .hasMessageContaining("moves no bytes");
  }

  @Test
  void shouldNeverBeChosenUnlessItIsNamed() {
    assertThat(provider.order()).isNegative();
    Verbs.Choice choice = Verbs.choose("auto", EngineSettings.none());
    assertThat(choice.reasons()).noneMatch(reason -> reason.startsWith(NoCopyProvider.NAME));
    if (choice.engine() != null) {
      assertThat(choice.engine().name()).isNotEqualTo("soft");
      choice.engine().close();
    }
  }
}
