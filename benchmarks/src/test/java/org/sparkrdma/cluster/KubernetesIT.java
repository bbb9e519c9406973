// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.scheduler.cluster.k8s.KubernetesClusterManager;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.sparkrdma.cluster.SimulatedKubernetes.EndedPod;
import org.sparkrdma.cluster.job.ClusterJob;
import org.sparkrdma.cluster.job.JobResult;

/**
 * The plug-in under Spark's scheduler for Kubernetes, on the loopback engine, with the templates of
 * conf/. The API server is simulated and the pods are processes of this machine. Each application
 * has two executors. {@link YarnIT} has a cluster manager every day, and containers that end.
 */
@Tag("nightly")
@Execution(ExecutionMode.SAME_THREAD)
@Timeout(value = 600, threadMode = ThreadMode.SEPARATE_THREAD)
class KubernetesIT {
  private static final Path CONF = Path.of("../conf").toAbsolutePath().normalize();
  private static final String JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 ";
  private static final String LOOPBACK = JVM + "-Dspark.shuffle.rdma.engine=soft";

  /** Spark's scheduler for Kubernetes and its client, which a distribution has among its jars. */
  private static final Map<String, String> JARS =
      Map.of(
          "SPARK_DIST_CLASSPATH",
          SparkSubmit.jarOf(KubernetesClusterManager.class)
              + (":" + Path.of("target/kubernetes-jars").toAbsolutePath() + "/*"));

  @TempDir private static Path directory;
  private static Path job;

  /** A finished application: exit code and log of its driver, and its pods. */
  private record Application(Path answer, int exitCode, String driver, List<EndedPod> pods) {
    JobResult result() throws IOException {
      assertThat(exitCode).as(driver + logs()).isZero();
      return new ObjectMapper().readValue(answer.toFile(), JobResult.class);
    }

    String logs() {
      return pods.stream().map(EndedPod::log).collect(Collectors.joining());
    }
  }

  @BeforeAll
  @Timeout(value = 600, threadMode = ThreadMode.SEPARATE_THREAD)
  static void prepare() throws Exception {
    job = JobFixture.jar(directory.resolve("job.jar"));
  }

  @Test
  void shouldReadEveryRemoteBlockByRead() throws Exception {
    Application application =
        run("shuffle", "spark.executor.memory=512m", "spark.shuffle.rdma.doctor=true");
    JobResult result = application.result();

    assertThat(result.answer()).isEqualTo(ClusterJob.small());
    JobFixture.assertAllByRead(result);
    assertThat(application.logs().lines().filter(line -> line.contains("RDMA is up: device soft0")))
        .hasSize(2)
        .allMatch(
            line -> line.contains("1/2 of spark.executor.memoryOverhead above 256 MiB: 768 MiB"));
    assertThat(application.driver())
        // The checks of an executor may last longer than the job on a busy machine.
        .containsPattern("Checks of executor [0-9]+ on .*: RDMA is used")
        .contains("Shuffle of this application: readBytes=");
    assertThat(application.pods())
        .hasSize(2)
        .extracting(ended -> ended.pod().getSpec().getContainers().get(0))
        .allSatisfy(
            container -> {
              // Heap and overhead, as the plug-in computes them.
              assertThat(container.getResources().getLimits())
                  .containsEntry("memory", new Quantity("2304Mi"))
                  .containsKey("rdma/hca_shared_devices_a");
              assertThat(container.getSecurityContext().getCapabilities().getAdd())
                  .containsExactly("IPC_LOCK");
            });
  }

  /** Runs an application on two nodes with the loopback engine. */
  private static Application run(String name, String... settings) throws Exception {
    Path own = Files.createTempDirectory(directory, name);
    Path answer = own.resolve("result.json");
    Path sparkConf = Files.createDirectory(own.resolve("spark-conf"));
    try (SimulatedKubernetes kubernetes =
        new SimulatedKubernetes(own.resolve("pods"), JARS, LOOPBACK)) {
      Files.writeString(
          sparkConf.resolve("spark-defaults.conf"), sparkDefaults(kubernetes.master()));
      Map<String, String> variables = new HashMap<>(JARS);
      variables.put("SPARK_CONF_DIR", sparkConf.toString());
      SparkSubmit.Outcome outcome =
          SparkSubmit.run(
              SparkSubmit.installation().sparkHome(),
              own,
              variables,
              arguments(List.of(job.toString(), name, answer.toString()), settings));
      return new Application(
          answer, outcome.exitCode(), outcome.output() + outcome.errors(), kubernetes.endPods());
    }
  }

  /** The template with the names of this machine. */
  private static String sparkDefaults(String master) throws Exception {
    return Files.readString(CONF.resolve("kubernetes.conf.template"))
        .replace("k8s://https://HOST:6443", master)
        .replace("/path/to/kubernetes", CONF.resolve("kubernetes").toString())
        .replace(
            "/opt/spark/rdma/spark-rdma-shuffle.jar",
            SparkSubmit.installation().plugIn().toString())
        .replace("/opt/spark/rdma/java", System.getProperty("java.home"));
  }

  private static List<String> arguments(List<String> application, String... settings) {
    List<String> arguments = new ArrayList<>(List.of("--deploy-mode", "client"));
    arguments.addAll(
        SparkSubmit.conf(
            "spark.driver.memory=512m",
            "spark.executor.instances=2",
            "spark.scheduler.minRegisteredResourcesRatio=1",
            "spark.scheduler.maxRegisteredResourcesWaitingTime=100s",
            "spark.shuffle.readHostLocalDisk=false",
            // On a busy machine blocks would come by TCP, too.
            "spark.shuffle.rdma.waits.factor=100",
            "spark.ui.enabled=false"));
    arguments.addAll(SparkSubmit.conf(settings));
    arguments.addAll(List.of("--class", ClusterJob.class.getName()));
    arguments.addAll(application);
    return arguments;
  }
}
