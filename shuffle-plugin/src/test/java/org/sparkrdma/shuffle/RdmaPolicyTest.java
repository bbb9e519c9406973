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
package org.sparkrdma.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

class RdmaPolicyTest {
  private final SparkConf conf = new SparkConf(false);

  @Test
  void shouldHaveNothingAgainstPlainSpark() {
    assertObjections().isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.network.crypto.enabled",
        "spark.ssl.rpc.enabled",
        "spark.authenticate.enableSaslEncryption"
      })
  void shouldNotCarryReadableBytesWhereEncryptionIsAskedFor(String key) {
    conf.set(key, "true");
    assertObjections().singleElement().asString().contains(key, "fabric.trusted");
  }

  @Test
  void shouldCarryBlocksThatAreEncryptedThemselves() {
    conf.set("spark.network.crypto.enabled", "true").set("spark.io.encryption.enabled", "true");
    assertObjections().isEmpty();
  }

  @Test
  void shouldBelieveTheAdministratorThatTheFabricIsTrusted() {
    conf.set("spark.network.crypto.enabled", "true")
        .set("spark.shuffle.rdma.fabric.trusted", "true");
    assertObjections().isEmpty();
  }

  @Test
  void shouldLeaveTheOldProtocolToSpark() {
    conf.set("spark.shuffle.useOldFetchProtocol", "true");
    assertObjections().singleElement().asString().contains("useOldFetchProtocol");
  }

  private org.assertj.core.api.ListAssert<String> assertObjections() {
    return assertThat(RdmaPolicy.objections(conf, ShuffleSettings.of(conf)));
  }
}
