// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Environment and command of an executor's container, as a kubelet and the script entrypoint.sh of
 * Spark's image make them. A mounted volume is a folder with its name. Stateless.
 */
final class ExecutorContainer {
  private static final String MAIN_CLASS =
      "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend";
  private static final String JAVA_OPTION = "SPARK_JAVA_OPT_";

  private ExecutorContainer() {}

  /**
   * The process, ready to start.
   *
   * @param address of the pod
   * @param volumes folder of the volumes
   * @param image variables of the image, and those that a kubelet adds
   */
  static ProcessBuilder prepare(Pod pod, String address, Path volumes, Map<String, String> image) {
    Map<String, String> environment = environment(pod, address, volumes, image);
    ProcessBuilder builder = new ProcessBuilder(command(environment));
    builder.environment().clear();
    builder.environment().putAll(environment);
    return builder.directory(volumes.toFile()).redirectErrorStream(true);
  }

  private static Map<String, String> environment(
      Pod pod, String address, Path volumes, Map<String, String> image) {
    Container container = pod.getSpec().getContainers().get(0);
    Map<String, String> environment = new TreeMap<>();
    for (EnvVar variable : container.getEnv()) {
      environment.put(variable.getName(), value(variable, pod, address));
    }
    for (VolumeMount mount : container.getVolumeMounts()) {
      String folder = volumes.resolve(mount.getName()).toString();
      environment.replaceAll((name, value) -> value.replace(mount.getMountPath(), folder));
    }
    image.forEach(environment::putIfAbsent);
    return environment;
  }

  private static String value(EnvVar variable, Pod pod, String address) {
    if (variable.getValueFrom() == null) {
      return variable.getValue() == null ? "" : variable.getValue();
    }
    String field = variable.getValueFrom().getFieldRef().getFieldPath();
    return switch (field) {
      case "status.podIP" -> address;
      case "metadata.name" -> pod.getMetadata().getName();
      default -> throw new IllegalArgumentException("unknown field of a pod: path=" + field);
    };
  }

  /** The branch "executor" of entrypoint.sh. */
  private static List<String> command(Map<String, String> environment) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(environment.get("JAVA_HOME"), "bin", "java").toString());
    environment.keySet().stream()
        .filter(name -> name.startsWith(JAVA_OPTION))
        .sorted(Comparator.comparingInt(ExecutorContainer::indexOfOption))
        .map(environment::get)
        .forEach(command::add);
    command.add("-Xms" + environment.get("SPARK_EXECUTOR_MEMORY"));
    command.add("-Xmx" + environment.get("SPARK_EXECUTOR_MEMORY"));
    command.add("-cp");
    command.add(
        String.join(
            File.pathSeparator,
            environment.get("SPARK_CONF_DIR"),
            environment.getOrDefault("SPARK_CLASSPATH", ""),
            Path.of(environment.get("SPARK_HOME"), "jars", "*").toString(),
            environment.get("SPARK_DIST_CLASSPATH")));
    command.add(MAIN_CLASS);
    Map.of(
            "--driver-url", "SPARK_DRIVER_URL",
            "--executor-id", "SPARK_EXECUTOR_ID",
            "--cores", "SPARK_EXECUTOR_CORES",
            "--app-id", "SPARK_APPLICATION_ID",
            "--hostname", "SPARK_EXECUTOR_POD_IP",
            "--resourceProfileId", "SPARK_RESOURCE_PROFILE_ID",
            "--podName", "SPARK_EXECUTOR_POD_NAME")
        .forEach((option, name) -> command.addAll(List.of(option, environment.get(name))));
    return command;
  }

  private static int indexOfOption(String name) {
    return Integer.parseInt(name.substring(JAVA_OPTION.length()));
  }
}
