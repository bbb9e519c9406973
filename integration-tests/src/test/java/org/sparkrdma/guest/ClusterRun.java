// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.sparkrdma.executors.LeakLog;
import org.sparkrdma.executors.Violations;
import org.sparkrdma.guest.cluster.ClusterNode;
import org.sparkrdma.guest.cluster.HostControl;
import org.sparkrdma.guest.cluster.StepResult;

/**
 * Runs applications on a Spark cluster over two kernels, executes their requests to the host, and
 * reads their results. Confined to the test's thread.
 */
final class ClusterRun {
  private static final Duration LIMIT = Duration.ofMinutes(12);
  private static final Pattern EXECUTOR = Pattern.compile("application=(\\S+) executor=(\\S+)");
  private static final long POLL_MS = 50;
  private static final int NODES = 2;
  private static final String LEAKS = "leaks";

  /** Runs a command in a control group with the limit, and writes the group's memory events. */
  private static final String LIMITED =
      "group=/sys/fs/cgroup/limited; mkdir $group && echo $0 >$group/memory.max"
          + " && (echo $BASHPID >$group/cgroup.procs && exec \"$@\"); code=$?;"
          + " { cat $group/memory.events; echo peak $(cat $group/memory.peak); }"
          + " >$GUEST_SHARE/memory.events; exit $code";

  /** Runs a command when the host has prepared the kernels; others may write what it writes. */
  private static final String PREPARED =
      "touch $GUEST_SHARE/waiting$GUEST_NODE; until [[ -e $GUEST_SHARE/prepared ]];"
          + " do sleep 0.05; done; umask 0; exec \"$@\"";

  /** A directory for a user's logs: in the shared one the user's directories would be root's. */
  private static final String OWN_WORK =
      "mkdir -p $GUEST_SHARE/work%1$d && mount -t tmpfs -o mode=1777 work $GUEST_SHARE/work%1$d";

  /** Runs a command, then copies its logs to where the host sees them. */
  private static final String KEEP_WORK =
      "\"$@\"; code=$?; find $GUEST_SHARE/work$GUEST_NODE -name stderr -exec cat {} +"
          + " >$GUEST_SHARE/logs$GUEST_NODE; exit $code";

  private final Path share;
  private final Map<String, String> scripts = new HashMap<>();
  private Guest guest;
  private String preparation = "";
  private String namespace = "";
  private boolean hasUser;
  private long limitBytes;
  private List<String> lostMessages = List.of();
  private int done;

  private ClusterRun(Path share, Guest guest) {
    this.share = share;
    this.guest = guest;
  }

  /**
   * Describes a run; starts nothing.
   *
   * @param name of the directory that nodes and host share, which keeps the logs
   */
  static ClusterRun named(String name) throws IOException {
    Path home = Path.of(Build.property("it.spark.home"));
    Path share = Path.of(Build.property("it.guest.directory"), name);
    ClusterJava.recreate(share);
    return new ClusterRun(
        share,
        Guest.nodes(NODES)
            .memory("3G")
            .timeout(LIMIT)
            .with("--share", share.toString())
            .env("SPARK_HOME", home.toString())
            .env("SPARK_SCALA_VERSION", "2.13")
            .env("JAVA_HOME", GuestJdk.home()));
  }

  /** One more option of {@code ./dev/guest run}. */
  ClusterRun with(String option, String value) {
    guest = guest.with(option, value);
    return this;
  }

  /** Runs on kernels of this version, such as 6.1. */
  ClusterRun onKernel(String version) {
    guest = guest.kernel(version);
    return this;
  }

  /** Runs on kernels that have the options of a file in the tool's directory as well. */
  ClusterRun onKernelWith(String file) {
    guest = guest.kernelOptions(file);
    return this;
  }

  /** Runs as an ordinary user of the guest. */
  ClusterRun asUser(String user) throws IOException {
    Files.setPosixFilePermissions(share, PosixFilePermissions.fromString("rwxrwxrwx"));
    hasUser = true;
    return with("--user", user);
  }

  /**
   * Runs a line of bash as root on each node before its Worker starts, which a run as another user
   * needs.
   *
   * @param line a format for the number of the node
   */
  ClusterRun prepared(String line) {
    preparation = line;
    return this;
  }

  /** Runs in a network namespace that the line of {@link #prepared} adds. */
  ClusterRun inNamespace(String name) {
    namespace = name;
    return this;
  }

  /**
   * Names a line of bash that applications request, run as root on each node.
   *
   * @param line a format for the number of the node
   */
  ClusterRun script(String name, String line) {
    scripts.put(name, line);
    return this;
  }

  /** Limits the memory of Worker and executor on node 2. */
  ClusterRun limitedTo(long bytes) {
    limitBytes = bytes;
    return this;
  }

  /** The steps' results by application and step, as {@code rocev2/tera}. */
  Map<String, StepResult> run(String... applications) throws IOException, InterruptedException {
    boolean measured = List.of(applications).stream().anyMatch(name -> name.endsWith("transfer"));
    Guest checked = measured ? guest : checked(guest);
    try (RunningGuest running = checked.start(command(applications))) {
      if (!preparation.isEmpty()) {
        prepare(running);
      }
      while (!running.waitFor(POLL_MS, TimeUnit.MILLISECONDS)) {
        answer(running);
      }
      GuestResult result = running.await();
      lostMessages = running.lostMessages();
      if (result.exitCode() != 0 && result.exitCode() != GuestResult.KILLED) {
        throw new IllegalStateException(
            "the cluster failed: exitCode=" + result.exitCode() + "\n" + result.output());
      }
    }
    if (!measured) {
      List<String> leaks = new ArrayList<>(LeakLog.read(share.resolve(LEAKS)).objections());
      for (String leak : List.copyOf(leaks)) {
        if (endedBySignal(leak)) {
          leaks.remove(leak);
        }
      }
      if (!leaks.isEmpty()) {
        throw new IllegalStateException("executors have leaked: " + leaks);
      }
    }
    for (int node = 1; node <= NODES; node++) {
      List<String> violations = Violations.in(executorLogs(node).lines().toList());
      if (!violations.isEmpty()) {
        throw new IllegalStateException("assertions violated: node=" + node + " " + violations);
      }
    }
    return results();
  }

  /** Whether the executor of a leak was ended by a signal: then the kernel frees what it holds. */
  private boolean endedBySignal(String leak) throws IOException {
    Matcher executor = EXECUTOR.matcher(leak);
    if (!executor.find()) {
      return false;
    }
    for (int node = 1; node <= NODES; node++) {
      Path log =
          share
              .resolve("work" + node)
              .resolve(executor.group(1))
              .resolve(executor.group(2))
              .resolve("stderr");
      if (Files.exists(log) && Files.readString(log).contains("RECEIVED SIGNAL TERM")) {
        return true;
      }
    }
    return false;
  }

  /** Assertions are on, and executors keep leak records, which they judge when they end. */
  private Guest checked(Guest unchecked) throws IOException {
    Path leaks = Files.createDirectories(share.resolve(LEAKS));
    if (hasUser) {
      Files.setPosixFilePermissions(leaks, PosixFilePermissions.fromString("rwxrwxrwx"));
    }
    return unchecked
        .env("JDK_JAVA_OPTIONS", GuestTests.ASSERTIONS + " " + GuestTests.LEAK_RECORDS)
        .env(LeakLog.VARIABLE, leaks.toString());
  }

  /**
   * Asserts vanilla Spark's result, and that every remote byte came by READ in the first attempt.
   */
  static void assertAllByRead(StepResult step) {
    assertThat(step.right()).as("%s", step).isTrue();
    assertThat(step.rdmaBytes()).as("%s", step).isPositive().isEqualTo(step.remoteBytesRead());
    assertThat(step.tcpBytes()).as("%s", step).isZero();
    assertThat(step.fallbacks()).as("%s", step).isEmpty();
    assertThat(step.failedTasks()).as("%s", step).isZero();
  }

  /** Messages that filtered wires lost, one line each. */
  List<String> lostMessages() {
    return lostMessages;
  }

  /** The executors' logs on a node, of all applications. */
  String executorLogs(int node) throws IOException {
    StringBuilder logs = new StringBuilder();
    Path ofUser = share.resolve("logs" + node);
    if (Files.exists(ofUser)) {
      return Files.readString(ofUser);
    }
    try (Stream<Path> files = Files.walk(share.resolve("work" + node))) {
      for (Path log : files.filter(file -> file.endsWith("stderr")).toList()) {
        logs.append(Files.readString(log));
      }
    }
    return logs.toString();
  }

  /** Path of a file that all nodes share. */
  Path file(String name) {
    return share.resolve(name);
  }

  /** The content of a file that an application or the node has written. */
  String content(String file) throws IOException {
    return Files.readString(share.resolve(file));
  }

  private String[] command(String... applications) throws IOException, InterruptedException {
    List<String> shipped = new ArrayList<>(ClusterJava.shippedJars());
    List<String> command = new ArrayList<>();
    if (limitBytes > 0) {
      String onNodeTwo = "((GUEST_NODE == 1)) && exec \"$@\"; " + LIMITED;
      command.addAll(List.of("bash", "-c", onNodeTwo, Long.toString(limitBytes)));
    }
    if (!preparation.isEmpty()) {
      command.addAll(List.of("bash", "-c", PREPARED, "prepared"));
    }
    if (!namespace.isEmpty()) {
      command.addAll(List.of("ip", "netns", "exec", namespace));
    }
    if (hasUser) {
      command.addAll(List.of("bash", "-c", KEEP_WORK, "kept"));
    }
    String archive = VanillaAnswers.archive();
    int at = command.size() + 1;
    command.addAll(ClusterJava.command());
    command.add(at, archive);
    command.add("-Dguest.jvm=" + GuestJdk.START_SOON + " " + archive);
    if (List.of(applications).stream().anyMatch(name -> name.endsWith("disni"))) {
      shipped.add(Disni.jar());
      command.add("-Dguest.disni.library=" + Disni.folder());
    }
    command.add("-Dguest.jars=" + String.join(",", shipped));
    command.add("-Dguest.answers=" + VanillaAnswers.directory());
    if (List.of(applications).stream().anyMatch(name -> name.endsWith("ipv6"))) {
      command.add("-Djava.net.preferIPv6Addresses=true");
    }
    command.add(ClusterNode.class.getName());
    command.addAll(List.of(applications));
    return command.toArray(String[]::new);
  }

  private void answer(RunningGuest running) throws IOException, InterruptedException {
    Path ask = share.resolve("ask-" + (done + 1));
    if (!Files.exists(ask)) {
      return;
    }
    done++;
    String[] words = Files.readString(ask).split(" ", 2);
    switch (words[0]) {
      case "netem" -> running.netem(words[1]);
      case "lose" -> running.lose(words[1]);
      case "cut" -> {
        running.linkDown();
        TimeUnit.SECONDS.sleep(Long.parseLong(words[1]));
        running.linkUp();
      }
      case "kill" -> running.kill(Integer.parseInt(words[1]));
      case "exec" -> {
        String[] parts = words[1].split(" ", 2);
        onNode(running, Integer.parseInt(parts[0]), parts[1]);
      }
      case "script" -> onEachNode(running, scripts.get(words[1]));
      default -> throw new IllegalStateException("no such request: " + words[0]);
    }
    HostControl.put(share, "done-" + done, "");
  }

  private void prepare(RunningGuest running) throws IOException, InterruptedException {
    for (int node = 1; node <= NODES; node++) {
      while (!Files.exists(share.resolve("waiting" + node))) {
        if (running.waitFor(POLL_MS, TimeUnit.MILLISECONDS)) {
          throw new IllegalStateException("the guest ended early: " + running.await().output());
        }
      }
    }
    String ownWork = OWN_WORK.replace("$GUEST_SHARE", share.toString());
    onEachNode(running, hasUser ? ownWork + " && " + preparation : preparation);
    HostControl.put(share, "prepared", "");
  }

  private void onEachNode(RunningGuest running, String format)
      throws IOException, InterruptedException {
    for (int node = 1; node <= NODES; node++) {
      onNode(running, node, String.format(Locale.ROOT, format, node));
    }
  }

  private void onNode(RunningGuest running, int node, String line)
      throws IOException, InterruptedException {
    NodeResult result = running.exec(node, line);
    if (result.exitCode() != 0) {
      throw new IllegalStateException("command on the node failed: " + line + ": " + result);
    }
  }

  private Map<String, StepResult> results() throws IOException {
    Map<String, StepResult> results = new TreeMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(share, "*.json")) {
      for (Path file : files) {
        StepResult result = new ObjectMapper().readValue(file.toFile(), StepResult.class);
        results.put(result.application() + "/" + result.step(), result);
      }
    }
    return results;
  }
}
