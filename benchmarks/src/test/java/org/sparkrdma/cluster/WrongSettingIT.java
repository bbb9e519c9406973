// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.soak.jobs.SoakApplication;

/** Output of an application with a wrong setting. */
@Timeout(120)
class WrongSettingIT {
  @TempDir private Path directory;

  @Test
  void shouldNameTheWrongSettingInALineAtError() throws Exception {
    Installation installation = new Installation(Path.of("..").toAbsolutePath().normalize());
    Path plan =
        Files.writeString(directory.resolve("plan"), "{\"seconds\":1,\"seed\":1,\"executors\":1}");
    Path output = directory.resolve("output");
    ProcessBuilder submit =
        new SparkLauncherCommand(installation.sparkHome(), Path.of(System.getProperty("java.home")))
            .prepare(
                "org.apache.spark.deploy.SparkSubmit",
                List.of(
                    "--master",
                    "local[1]",
                    "--driver-class-path",
                    installation.plugIn().toString(),
                    "--conf",
                    "spark.shuffle.manager=org.sparkrdma.shuffle.RdmaShuffleManager",
                    "--conf",
                    "spark.shuffle.rdma.pinned.max=17x",
                    "--class",
                    SoakApplication.class.getName(),
                    installation.jobs().toString(),
                    plan.toString(),
                    directory.resolve("result").toString()),
                Map.of());

    int exitCode =
        submit.redirectErrorStream(true).redirectOutput(output.toFile()).start().waitFor();

    assertThat(exitCode).isNotZero();
    assertThat(Files.readString(output))
        .contains("ERROR RdmaShuffleManager: bad setting: key=spark.shuffle.rdma.pinned.max");
  }
}
