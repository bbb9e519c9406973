// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.cluster.SparkSubmit.Outcome;

/** The commands of the plug-in's jar by {@code spark-submit --class}, with Spark's settings. */
@Timeout(120)
class SubmittedCommandsIT {
  private static final int NOT_USED = 1;

  @TempDir private Path directory;

  @Test
  void shouldExplainTheHostOfTheDriverWithTheSettingsOfSparkSubmit() throws Exception {
    Outcome outcome = submit(List.of("--conf", "spark.shuffle.rdma.pined.max=1g"), "doctor");
    assertThat(outcome.output())
        .startsWith("RDMA will not be used: unknown setting: key=spark.shuffle.rdma.pined.max")
        .doesNotContain("\u001b");
    assertThat(outcome.exitCode()).isEqualTo(NOT_USED);
  }

  private Outcome submit(List<String> options, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("--class", "org.sparkrdma.shuffle.tools.Main"));
    command.addAll(options);
    command.add(SparkSubmit.installation().plugIn().toString());
    command.addAll(List.of(arguments));
    return SparkSubmit.run(directory, command);
  }
}
