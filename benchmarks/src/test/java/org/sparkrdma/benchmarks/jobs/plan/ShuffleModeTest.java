// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.netty.SparkTransportConf;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import scala.Option;

class ShuffleModeTest {
  @Test
  void shouldPrintTheNameThatTheOptionTakes() {
    assertThat(ShuffleMode.VANILLA).hasToString("vanilla");
  }

  @Test
  void shouldHaveTheNamesThatTheScriptsCheck() throws Exception {
    assertThat(Path.of("launch.bash"))
        .content()
        .contains("\nreadonly shuffle_modes='%s'\n".formatted(ShuffleMode.names()));
  }

  @Test
  void shouldOfferEachNameOnceToWhoGivesAnother() {
    ShuffleMode.Converter converter = new ShuffleMode.Converter();
    assertThat(converter.convert("Tuned")).isEqualTo(ShuffleMode.TUNED);
    assertThatThrownBy(() -> converter.convert("fast"))
        .hasMessage(
            "'fast' is not a shuffle: give names of vanilla, control, tuned, service, rdma,"
                + " fallback");
  }

  @Test
  void shouldRunTheSameShuffleAsVanillaInTheControl() {
    assertThat(ShuffleMode.CONTROL.conf()).isEqualTo(ShuffleMode.VANILLA.conf());
  }

  /** The page configuration.md advises this mode for benchmarks. */
  @Test
  void shouldRunTasksWithoutRdmaAlsoWhereTheUserRequiresIt() {
    SparkConf conf = new SparkConf(false).set("spark.shuffle.rdma.mode", "required");
    ShuffleMode.FALLBACK.conf().forEach(conf::set);
    assertThat(ShuffleSettings.of(conf).mode()).isEqualTo(ShuffleSettings.Mode.AUTO);
  }

  @Test
  void shouldUseTheExternalShuffleServiceInOneModeOnly() {
    assertThat(ShuffleMode.values())
        .filteredOn(mode -> mode.conf().containsKey("spark.shuffle.service.enabled"))
        .containsExactly(ShuffleMode.SERVICE);
    assertThat(ShuffleMode.SERVICE.mustRead()).isFalse();
  }

  @Test
  void shouldGiveEachExecutorItsThreads() {
    Map<String, String> conf = new ExecutorSize(8).conf();
    assertThat(conf)
        .containsEntry("spark.executor.cores", "8")
        .containsEntry("spark.cores.max", "16")
        .containsEntry("spark.executor.memory", "2048m");
  }

  @Test
  void shouldAllowMoreInTheTunedShuffleThanSparkByDefault() {
    SparkConf defaults = new SparkConf(false);
    SparkConf tuned = new SparkConf(false);
    ShuffleMode.TUNED.conf().forEach(tuned::set);
    var config = package$.MODULE$;

    assertThat(bytesInFlight(tuned)).isGreaterThan(bytesInFlight(defaults));
    assertThat(tuned.get(config.REDUCER_MAX_REQS_IN_FLIGHT()))
        .isEqualTo(defaults.get(config.REDUCER_MAX_REQS_IN_FLIGHT()));
    assertThat(tuned.get(config.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()))
        .isEqualTo(defaults.get(config.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()));
    TransportConf more = shuffleTransport(tuned);
    TransportConf less = shuffleTransport(defaults);
    assertThat(more.numConnectionsPerPeer()).isGreaterThan(less.numConnectionsPerPeer());
    assertThat(more.clientThreads()).isGreaterThan(less.clientThreads());
    assertThat(more.serverThreads()).isGreaterThan(less.serverThreads());
    assertThat(ShuffleMode.TUNED.conf()).hasSize(7);
  }

  private static long bytesInFlight(SparkConf conf) {
    return (long) conf.get(package$.MODULE$.REDUCER_MAX_SIZE_IN_FLIGHT());
  }

  /** The settings of an executor with one core. */
  private static TransportConf shuffleTransport(SparkConf conf) {
    return SparkTransportConf.fromSparkConf(conf, "shuffle", 1, Option.empty(), Option.empty());
  }
}
