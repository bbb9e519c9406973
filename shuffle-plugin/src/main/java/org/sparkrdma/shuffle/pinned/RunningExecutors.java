// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;

/**
 * Counts the executors that run on this host, of any application. Settings do not contain the
 * number: a standalone Master starts one executor per Worker, and a host may run several Workers.
 * Stateless.
 */
final class RunningExecutors {
  /** Main classes of executors: standalone and local-cluster, YARN, Kubernetes. */
  private static final Set<String> MAIN_CLASSES =
      Set.of(
          "org.apache.spark.executor.CoarseGrainedExecutorBackend",
          "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend",
          "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend");

  private static final String ARGUMENT_END = "\0";

  private RunningExecutors() {}

  /**
   * Number of executor processes; at least 1.
   *
   * @param root of the file system, another one in tests; see proc_pid_cmdline(5)
   */
  static int count(Path root) {
    int executors = 0;
    try (DirectoryStream<Path> processes =
        Files.newDirectoryStream(root.resolve("proc"), "[0-9]*")) {
      for (Path process : processes) {
        if (isExecutor(process.resolve("cmdline"))) {
          executors++;
        }
      }
    } catch (IOException e) {
      return 1;
    }
    return Math.max(1, executors);
  }

  /** A shell that starts an executor has the class within an argument and does not count. */
  private static boolean isExecutor(Path commandLine) {
    try {
      String text = Files.readString(commandLine, StandardCharsets.ISO_8859_1);
      return Arrays.stream(text.split(ARGUMENT_END)).anyMatch(MAIN_CLASSES::contains);
    } catch (IOException e) {
      // The process has ended, or belongs to another user on a host that hides it.
      return false;
    }
  }
}
