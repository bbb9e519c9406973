// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import io.fabric8.mockwebserver.crud.AttributeSet;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A simulated API server of Kubernetes in this JVM, and a kubelet that starts a process for each
 * executor pod. It shows what Spark's scheduler for Kubernetes does; nothing of containers, images,
 * networks of pods, device plug-ins or limits of memory. Closed by its creator, which ends all
 * processes.
 */
final class SimulatedKubernetes implements Watcher<Pod>, AutoCloseable {
  private static final long LIMIT_S = 60;

  /** Pods have the addresses 127.0.0.11 and higher. */
  private static final int FIRST_ADDRESS = 10;

  private final KubernetesMockServer server =
      new KubernetesMockServer(
          new Context(), new MockWebServer(), new HashMap<>(), new Pending(), false);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, Future<EndedPod>> pods = new LinkedHashMap<>();
  private final List<Process> processes = new ArrayList<>();
  private final Path directory;
  private final Map<String, String> image;
  private final KubernetesClient client;

  /** A pod whose process has ended, and what that has printed. */
  record EndedPod(Pod pod, String log) {}

  /** New pods are in the phase Pending, as on a real API server. */
  private static final class Pending extends KubernetesCrudDispatcher {
    @Override
    public void processEvent(
        String path,
        AttributeSet pathAttributes,
        AttributeSet oldAttributes,
        GenericKubernetesResource resource,
        String newState) {
      String state = newState;
      if (oldAttributes == null && resource != null && resource.getKind().equals("Pod")) {
        resource.setAdditionalProperty("status", Map.of("phase", "Pending"));
        state = Serialization.asJson(resource);
      }
      super.processEvent(path, pathAttributes, oldAttributes, resource, state);
    }
  }

  /**
   * Starts it.
   *
   * @param directory for the pods' files
   * @param variables of the image
   * @param options of the JVMs in the containers
   */
  SimulatedKubernetes(Path directory, Map<String, String> variables, String options) {
    this.directory = directory;
    server.init(InetAddress.getLoopbackAddress(), 0);
    client = server.createClient();
    image = new HashMap<>(variables);
    image.put("PATH", System.getenv("PATH"));
    image.put("JAVA_HOME", System.getProperty("java.home"));
    image.put("SPARK_HOME", SparkSubmit.installation().sparkHome().toString());
    image.put("JAVA_TOOL_OPTIONS", options);
    image.put("KUBERNETES_SERVICE_HOST", server.getHostName());
    image.put("KUBERNETES_SERVICE_PORT", Integer.toString(server.getPort()));
    var unused =
        client.pods().inNamespace("default").withLabel("spark-role", "executor").watch(this);
  }

  /** Value of spark.master. */
  String master() {
    return "k8s://http://127.0.0.1:" + server.getPort();
  }

  @Override
  public synchronized void eventReceived(Action action, Pod pod) {
    String name = pod.getMetadata().getName();
    if (action == Action.ADDED && !pods.containsKey(name)) {
      String address = "127.0.0." + (FIRST_ADDRESS + pods.size() + 1);
      pods.put(name, threads.submit(() -> run(pod, address)));
    }
  }

  @Override
  public void onClose(WatcherException cause) {
    throw new IllegalStateException("the watch of pods has ended", cause);
  }

  private EndedPod run(Pod pod, String address) throws Exception {
    Path folder = Files.createDirectories(directory.resolve(address));
    for (Volume volume : pod.getSpec().getVolumes()) {
      create(volume, pod, Files.createDirectory(folder.resolve(volume.getName())));
    }
    Path log = folder.resolve("log");
    Process process =
        ExecutorContainer.prepare(pod, address, folder, image).redirectOutput(log.toFile()).start();
    synchronized (this) {
      processes.add(process);
    }
    client
        .resource(pod)
        .editStatus(
            last ->
                new PodBuilder(last)
                    .withNewStatus()
                    .withPhase("Running")
                    .withPodIP(address)
                    .addNewContainerStatus()
                    .withName(pod.getSpec().getContainers().get(0).getName())
                    .withNewState()
                    .withNewRunning()
                    .endRunning()
                    .endState()
                    .endContainerStatus()
                    .endStatus()
                    .build());
    process.waitFor();
    return new EndedPod(pod, Files.readString(log));
  }

  /** The files of a ConfigMap, which Spark creates after the pods. */
  private void create(Volume volume, Pod pod, Path folder) throws IOException {
    if (volume.getConfigMap() == null) {
      return;
    }
    ConfigMap files =
        client
            .configMaps()
            .inNamespace(pod.getMetadata().getNamespace())
            .withName(volume.getConfigMap().getName())
            .waitUntilCondition(Objects::nonNull, LIMIT_S, TimeUnit.SECONDS);
    for (Map.Entry<String, String> file : files.getData().entrySet()) {
      Files.writeString(folder.resolve(file.getKey()), file.getValue());
    }
  }

  /** Ends the pods that still run, and returns all pods in the order of their start. */
  List<EndedPod> endPods() throws Exception {
    List<Future<EndedPod>> all;
    synchronized (this) {
      processes.forEach(Process::destroy);
      all = List.copyOf(pods.values());
    }
    List<EndedPod> ended = new ArrayList<>();
    for (Future<EndedPod> pod : all) {
      ended.add(pod.get(LIMIT_S, TimeUnit.SECONDS));
    }
    return ended;
  }

  @Override
  public synchronized void close() {
    processes.forEach(Process::destroyForcibly);
    threads.shutdownNow();
    client.close();
    server.destroy();
  }
}
