// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The life of one pod, whose container is a process of this machine. Reports the phases to the API
 * server. Runs on a thread of its own; {@link #delete} may be called by any thread.
 */
final class LocalPod implements Callable<EndedPod> {
  private static final String EXECUTOR_ID = "spark-exec-id";

  /** Default of Kubernetes. */
  private static final long GRACE_S = 30;

  private static final long CONFIG_MAP_TIMEOUT_S = 60;

  private final KubernetesClient client;
  private final Pod pod;
  private final String address;
  private final Path directory;
  private final Map<String, String> image;
  private final CompletableFuture<Void> deletion = new CompletableFuture<>();

  /**
   * Takes all it needs.
   *
   * @param address of the pod, on the loopback interface
   * @param directory for its volumes and its log, which does not exist yet
   * @param image variables of the image, and those that a kubelet adds
   */
  LocalPod(
      KubernetesClient client, Pod pod, String address, Path directory, Map<String, String> image) {
    this.client = client;
    this.pod = pod;
    this.address = address;
    this.directory = directory;
    this.image = image;
  }

  /** Spark's number of the executor in a pod. */
  static String executorId(Pod pod) {
    return pod.getMetadata().getLabels().get(EXECUTOR_ID);
  }

  /** The API server has marked the pod for deletion, or the test is over. */
  void delete() {
    deletion.complete(null);
  }

  @Override
  public EndedPod call() throws Exception {
    Files.createDirectories(directory);
    for (Volume volume : pod.getSpec().getVolumes()) {
      create(volume);
    }
    Path log = directory.resolve("log");
    Process process =
        ExecutorContainer.prepare(pod, address, directory, image)
            .redirectOutput(log.toFile())
            .start();
    try {
      report("Running", new ContainerStateBuilder().withNewRunning().endRunning().build());
      boolean deleted = awaitEnd(process);
      int exitCode = process.waitFor();
      report(
          exitCode == 0 ? "Succeeded" : "Failed",
          new ContainerStateBuilder()
              .withNewTerminated()
              .withExitCode(exitCode)
              .endTerminated()
              .build());
      deletion.get();
      resource()
          .edit(last -> new PodBuilder(last).editMetadata().withFinalizers().endMetadata().build());
      return new EndedPod(pod, exitCode, deleted, Files.readString(log));
    } finally {
      process.destroyForcibly();
    }
  }

  /**
   * Waits for the end of the process. When the pod is deleted before, sends SIGTERM, and SIGKILL
   * after the grace period.
   *
   * @return whether it was deleted before
   */
  private boolean awaitEnd(Process process) throws Exception {
    CompletableFuture.anyOf(process.onExit(), deletion).get();
    if (!process.isAlive()) {
      return false;
    }
    process.destroy();
    Long grace = pod.getSpec().getTerminationGracePeriodSeconds();
    if (!process.waitFor(grace == null ? GRACE_S : grace, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
    return true;
  }

  /** A folder, with the files of a ConfigMap, which Spark creates after the pods. */
  private void create(Volume volume) throws IOException {
    Path folder = Files.createDirectory(directory.resolve(volume.getName()));
    if (volume.getConfigMap() == null) {
      return;
    }
    ConfigMap files =
        client
            .configMaps()
            .inNamespace(pod.getMetadata().getNamespace())
            .withName(volume.getConfigMap().getName())
            .waitUntilCondition(Objects::nonNull, CONFIG_MAP_TIMEOUT_S, TimeUnit.SECONDS);
    for (Map.Entry<String, String> file : files.getData().entrySet()) {
      Files.writeString(folder.resolve(file.getKey()), file.getValue());
    }
  }

  private PodResource resource() {
    return client
        .pods()
        .inNamespace(pod.getMetadata().getNamespace())
        .withName(pod.getMetadata().getName());
  }

  private void report(String phase, ContainerState state) {
    resource()
        .editStatus(
            last ->
                new PodBuilder(last)
                    .withNewStatus()
                    .withPhase(phase)
                    .withPodIP(address)
                    .addNewContainerStatus()
                    .withName(pod.getSpec().getContainers().get(0).getName())
                    .withState(state)
                    .endContainerStatus()
                    .endStatus()
                    .build());
  }
}
