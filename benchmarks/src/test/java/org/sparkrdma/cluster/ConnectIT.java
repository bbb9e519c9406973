// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.cluster.job.ConnectClient;
import org.sparkrdma.launch.Script;

/** A server of Spark Connect with the plug-in, as {@code start-connect-server.sh} starts it. */
@Tag("nightly")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class ConnectIT {
  private static final String QUERY =
      "SELECT sum(n) FROM"
          + " (SELECT id % 7, count(*) AS n FROM range(0, 100000, 1, 4) GROUP BY id % 7)";

  @TempDir private Path directory;

  @Test
  void shouldReadByReadForAClient() throws Exception {
    for (String artifact : List.of("spark-connect", "spark-connect-client-jvm")) {
      Script.copyArtifacts(
          "dependency:copy",
          "-Dartifact=org.apache.spark:" + artifact + "_2.13:4.2.0",
          "-DoutputDirectory=" + directory.resolve(artifact));
    }
    int port = StandaloneCluster.freePort();
    Process server = startServer(port);
    try {
      // It retries until the server listens.
      Process client =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "--add-opens=java.base/java.nio=ALL-UNNAMED",
                  "-cp",
                  "target/test-classes:%s/*:%s/jars/*"
                      .formatted(
                          directory.resolve("spark-connect-client-jvm"),
                          SparkSubmit.installation().sparkHome()),
                  ConnectClient.class.getName(),
                  "sc://127.0.0.1:" + port,
                  QUERY)
              .redirectErrorStream(true)
              .start();
      String printed = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(printed.lines()).as(printed).contains("100000");
      server.destroy();
      SparkSubmit.Outcome outcome = SparkSubmit.outcome(server, directory);
      assertThat(outcome.errors())
          .containsPattern("Shuffle of this application: readBytes=[1-9].* tcpBytes=0 ");
    } finally {
      LiveProcesses.end(List.of(server.toHandle()), Duration.ofSeconds(10));
    }
  }

  private Process startServer(int port) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("--master", "local-cluster[2,1,1024]"));
    arguments.addAll(List.of("--jars", SparkSubmit.installation().plugIn().toString()));
    arguments.addAll(
        SparkSubmit.conf(
            "spark.plugins=org.sparkrdma.shuffle.RdmaPlugin",
            "spark.shuffle.rdma.engine=soft",
            "spark.shuffle.rdma.waits.factor=100",
            "spark.shuffle.readHostLocalDisk=false",
            "spark.scheduler.minRegisteredResourcesRatio=1",
            "spark.connect.grpc.binding.port=" + port));
    arguments.addAll(List.of("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"));
    return SparkSubmit.start(
        SparkSubmit.installation().sparkHome(),
        directory,
        Map.of("SPARK_DIST_CLASSPATH", directory.resolve("spark-connect") + "/*"),
        arguments);
  }
}
