// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Environment of this process, and how to raise its limit of locked memory there. */
public enum MemlockRemedy {
  /** A pod. */
  KUBERNETES(
      "in Kubernetes add the capability IPC_LOCK to the container's securityContext, which helps a"
          + " user other than root in the image of conf/Dockerfile only, or set LimitMEMLOCK=%1$d in"
          + " the systemd unit of the node's container runtime"),
  /** A container of YARN. */
  YARN(
      "on YARN set LimitMEMLOCK=%1$d in the NodeManager's systemd unit, or ulimit -l %2$d in"
          + " yarn-env.sh, and restart it: its containers inherit the limit"),
  /** Docker, Podman and their like. */
  CONTAINER("start the container with --ulimit memlock=%1$d, or --ulimit memlock=-1"),
  /** A service. */
  SYSTEMD(
      "set LimitMEMLOCK=%1$d in the systemd unit of Spark's worker, then systemctl daemon-reload and"
          + " restart it"),
  /** Any other environment. */
  SHELL(
      "raise it with ulimit -l %2$d in the shell that starts Spark's worker, allowed by memlock in"
          + " /etc/security/limits.conf");

  private static final int KIB = 1_024;
  private final String sentence;

  MemlockRemedy(String sentence) {
    this.sentence = sentence;
  }

  /**
   * The remedies, first the one for this process's environment.
   *
   * @param environment of the process
   * @param root of the file system
   * @param neededBytes that must be lockable
   */
  public static String sentences(Map<String, String> environment, Path root, long neededBytes) {
    MemlockRemedy current = current(environment, root);
    List<String> all = new ArrayList<>();
    all.add(current.text(neededBytes));
    for (MemlockRemedy other : values()) {
      if (other != current) {
        all.add(other.text(neededBytes));
      }
    }
    return String.join("; ", all);
  }

  private String text(long neededBytes) {
    return String.format(Locale.ROOT, sentence, neededBytes, (neededBytes + KIB - 1) / KIB);
  }

  /** The innermost environment that can be detected. */
  public static MemlockRemedy current(Map<String, String> environment, Path root) {
    if (environment.containsKey("KUBERNETES_SERVICE_HOST")) {
      return KUBERNETES;
    }
    if (environment.getOrDefault("CONTAINER_ID", "").startsWith("container_")) {
      return YARN;
    }
    if (Files.exists(root.resolve(".dockerenv"))
        || Files.exists(root.resolve("run/.containerenv"))) {
      return CONTAINER;
    }
    return environment.containsKey("INVOCATION_ID") ? SYSTEMD : SHELL;
  }
}
