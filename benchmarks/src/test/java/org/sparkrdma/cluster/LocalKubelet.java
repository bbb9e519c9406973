// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Starts a process for each executor pod of the simulated API server, and ends those of deleted
 * pods. Stands for the scheduler and the kubelets of some nodes: executors go to the nodes in turn.
 * Safe for many threads. Closed by its creator, which ends all processes.
 */
final class LocalKubelet implements Watcher<Pod>, AutoCloseable {
  private static final long END_TIMEOUT_S = 60;

  /** Pods have the addresses 127.0.0.11 and higher. */
  private static final int FIRST_ADDRESS = 10;

  private final KubernetesClient client;
  private final Path directory;
  private final List<Map<String, String>> nodes;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, LocalPod> pods = new HashMap<>();
  private final Map<String, Future<EndedPod>> ends = new LinkedHashMap<>();
  private Watch watch;

  /**
   * Takes all it needs.
   *
   * @param directory for the pods' volumes and logs
   * @param nodes variables of the containers of each node
   */
  LocalKubelet(KubernetesClient client, Path directory, List<Map<String, String>> nodes) {
    this.client = client;
    this.directory = directory;
    this.nodes = List.copyOf(nodes);
  }

  synchronized void start() {
    watch =
        client
            .pods()
            .inNamespace(SimulatedKubernetes.NAMESPACE)
            .withLabel("spark-role", "executor")
            .watch(this);
  }

  @Override
  public synchronized void eventReceived(Action action, Pod pod) {
    String name = pod.getMetadata().getName();
    if (action == Action.ADDED && !pods.containsKey(name)) {
      int id = Integer.parseInt(LocalPod.executorId(pod));
      LocalPod local =
          new LocalPod(
              client,
              pod,
              "127.0.0." + (FIRST_ADDRESS + id),
              directory.resolve(name),
              nodes.get((id - 1) % nodes.size()));
      pods.put(name, local);
      ends.put(name, threads.submit(local));
    }
    if (pod.isMarkedForDeletion()) {
      pods.get(name).delete();
    }
  }

  @Override
  public void onClose(WatcherException cause) {
    throw new IllegalStateException("the watch of pods has ended", cause);
  }

  /** Ends all processes that still run, and returns all pods in the order of their start. */
  List<EndedPod> end() throws Exception {
    List<Future<EndedPod>> futures;
    synchronized (this) {
      pods.values().forEach(LocalPod::delete);
      futures = List.copyOf(ends.values());
    }
    List<EndedPod> ended = new ArrayList<>();
    for (Future<EndedPod> future : futures) {
      ended.add(future.get(END_TIMEOUT_S, TimeUnit.SECONDS));
    }
    return ended;
  }

  @Override
  public synchronized void close() {
    if (watch != null) {
      watch.close();
    }
    threads.shutdownNow();
  }
}
