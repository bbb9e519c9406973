// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A simulated API server of Kubernetes in this JVM, and a {@link LocalKubelet}. It shows what
 * Spark's scheduler for Kubernetes does; nothing of containers, images, networks of pods, device
 * plug-ins or limits of memory. Closed by its creator, which ends all pods.
 */
final class SimulatedKubernetes implements AutoCloseable {
  /** Namespace of Spark's pods, Spark's default. */
  static final String NAMESPACE = "default";

  private final KubernetesMockServer server;
  private final KubernetesClient client;
  private final LocalKubelet kubelet;

  private SimulatedKubernetes(
      KubernetesMockServer server, KubernetesClient client, LocalKubelet kubelet) {
    this.server = server;
    this.client = client;
    this.kubelet = kubelet;
  }

  /**
   * Starts it.
   *
   * @param directory for the pods' files
   * @param variables of the image
   * @param nodeOptions options of the JVMs in the containers of each node
   */
  static SimulatedKubernetes start(
      Path directory, Map<String, String> variables, List<String> nodeOptions) {
    KubernetesMockServer server =
        new KubernetesMockServer(
            new Context(), new MockWebServer(), new HashMap<>(), new PodAdmission(), false);
    server.init(InetAddress.getLoopbackAddress(), 0);
    KubernetesClient client = server.createClient();
    List<Map<String, String>> nodes = new ArrayList<>();
    for (String options : nodeOptions) {
      Map<String, String> image = new HashMap<>(variables);
      image.putAll(image(server, options));
      nodes.add(image);
    }
    LocalKubelet kubelet = new LocalKubelet(client, directory, nodes);
    SimulatedKubernetes started = new SimulatedKubernetes(server, client, kubelet);
    try {
      kubelet.start();
      return started;
    } catch (Throwable e) {
      started.close();
      throw e;
    }
  }

  private static Map<String, String> image(KubernetesMockServer server, String options) {
    return Map.of(
        "PATH", System.getenv("PATH"),
        "JAVA_HOME", System.getProperty("java.home"),
        "SPARK_HOME", SparkSubmit.installation().sparkHome().toString(),
        "JAVA_TOOL_OPTIONS", options,
        "KUBERNETES_SERVICE_HOST", server.getHostName(),
        "KUBERNETES_SERVICE_PORT", Integer.toString(server.getPort()));
  }

  /** Value of spark.master. */
  String master() {
    return "k8s://http://127.0.0.1:" + server.getPort();
  }

  /** Ends the pods that still run, and returns all pods in the order of their start. */
  List<EndedPod> endPods() throws Exception {
    return kubelet.end();
  }

  @Override
  public void close() {
    kubelet.close();
    client.close();
    server.destroy();
  }
}
