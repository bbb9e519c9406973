// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RdmaPolicyTest {
  private final SparkConf conf = new SparkConf(false);

  @Test
  void shouldLetADeviceDecideWhetherItsFabricMustBeTrusted() {
    conf.set("spark.shuffle.rdma.engine", "disni");
    assertObjections().isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.network.crypto.enabled",
        "spark.ssl.rpc.enabled",
        "spark.authenticate.enableSaslEncryption",
        "spark.network.sasl.serverAlwaysEncrypt"
      })
  void shouldNotSendPlainBytesWhereEncryptionIsRequired(String key) {
    conf.set(key, "true");
    assertObjections().singleElement().asString().contains(key, "fabric.trusted");
  }

  /** Every combination, written out and not computed. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      useHeadersInDisplayName = true,
      textBlock =
          """
      crypto | ssl | io  | trusted | objections
      no     | no  | no | no      |
      no     | no  | no | yes     |
      no     | no  | yes | no      |
      no     | no  | yes | yes     |
      no     | yes | no | no      | spark.ssl.rpc.enabled
      no     | yes | no | yes     |
      no     | yes | yes | no      |
      no     | yes | yes | yes     |
      yes    | no  | no | no      | spark.network.crypto.enabled
      yes    | no  | no | yes     |
      yes    | no  | yes | no      |
      yes    | no  | yes | yes     |
      yes    | yes | no | no      | spark.network.crypto.enabled spark.ssl.rpc.enabled
      yes    | yes | no | yes     |
      yes    | yes | yes | no      |
      yes    | yes | yes | yes     |
      """)
  void shouldSendNoPlainBytesUnlessAllowed(
      String crypto, String ssl, String io, String trusted, String objections) {
    set("spark.network.crypto.enabled", crypto);
    set("spark.ssl.rpc.enabled", ssl);
    set("spark.io.encryption.enabled", io);
    set("spark.shuffle.rdma.fabric.trusted", trusted);
    assertObjectionsName(objections == null ? new String[0] : objections.split(" ", -1));
  }

  private void set(String key, String yesOrNo) {
    conf.set(key, Boolean.toString(yesOrNo.equals("yes")));
  }

  private void assertObjectionsName(String... settings) {
    assertObjections()
        .hasSameSizeAs(settings)
        .zipSatisfy(
            List.of(settings),
            (objection, setting) ->
                assertThat(objection)
                    .startsWith(setting + "=true asks for encryption")
                    .contains("spark.io.encryption.enabled=true")
                    .contains("spark.shuffle.rdma.fabric.trusted=true"));
  }

  @Test
  void shouldIgnoreEncryptionOfTheWebUi() {
    conf.set("spark.ssl.enabled", "true");
    assertObjections().isEmpty();
  }

  @Test
  void shouldReadPlainFilesOfOtherManagersOnlyWithoutNetworkEncryptionOrOnATrustedFabric() {
    assertThat(mayReadPlain()).isTrue();
    conf.set("spark.ssl.rpc.enabled", "true").set("spark.io.encryption.enabled", "true");
    assertThat(mayReadPlain()).isFalse();
    conf.set("spark.shuffle.rdma.fabric.trusted", "true");
    assertThat(mayReadPlain()).isTrue();
  }

  private boolean mayReadPlain() {
    return RdmaPolicy.mayReadPlain(this::isTrue, ShuffleSettings.of(conf));
  }

  @Test
  void shouldForbidRdmaWithTheOldFetchProtocol() {
    conf.set("spark.shuffle.useOldFetchProtocol", "true");
    assertObjections().singleElement().asString().contains("useOldFetchProtocol");
    assertThat(RdmaPolicy.oldFetchProtocol(this::isTrue)).isPresent();
    assertThat(RdmaPolicy.encryption(this::isTrue, ShuffleSettings.of(conf))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"true ", "\tTRUE"})
  void shouldReadFlagsOfSparkAsSparkDoes(String value) {
    conf.set("spark.network.crypto.enabled", value);
    assertObjectionsName("spark.network.crypto.enabled");
    conf.set("spark.io.encryption.enabled", value);
    assertObjections().isEmpty();
  }

  private boolean isTrue(String key) {
    return ValueType.isTrue(conf.get(key, null));
  }

  private org.assertj.core.api.ListAssert<String> assertObjections() {
    return assertThat(RdmaPolicy.warnings(this::isTrue, ShuffleSettings.of(conf)));
  }
}
