// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.matrix.SparkHomes;

/** The job of {@code integration-tests/guest/spark-job}, as the README describes it. */
@Tag("nightly")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(300)
final class SparkJobIT {
  private static final Path SCRIPT = Path.of("guest/spark-job").toAbsolutePath().normalize();

  @ParameterizedTest
  @CsvSource({
    "rocev2, rxe0, ",
    "iwarp,  siw0, ",
    "rocev2, rxe0, 3.5.9-2.12",
    "rocev2, rxe0, 4.1.3-2.13",
  })
  void shouldReadAllRemoteBlocksByRead(String transport, String device, String spark)
      throws Exception {
    List<String> command = new ArrayList<>(List.of(SCRIPT.toString()));
    if (spark != null) {
      String[] versions = spark.split("-", 2);
      Installation installation = new Installation(Path.of("..").toAbsolutePath().normalize());
      new SparkHomes(installation, new ProgressLog()).home(versions[0], versions[1]);
      command.add(spark);
    }
    GuestResult result =
        Guest.nodes(1)
            .memory("3G")
            .timeout(Duration.ofMinutes(4))
            .with("--transport", transport)
            .run(command.toArray(String[]::new));

    assertThat(result.exitCode()).as(result.output()).isZero();
    assertThat(result.node(1).lines())
        .filteredOn(line -> line.contains("RDMA is up"))
        .hasSize(2)
        .allMatch(line -> line.contains("device " + device + " port 1 of engine ibverbs at [10."));
    assertThat(result.node(1).lines())
        .endsWith("spark-job: the answer is right, all remote blocks came by READ");
  }
}
