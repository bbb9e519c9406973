// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.sparkrdma.shuffle.address.DeviceChoice;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.engines.Probe;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.TransportType;

/** A directory with files like those of a machine, and the facts of a command that runs there. */
public final class FakeMachine {
  private static final String PORT = "sys/class/infiniband/%s/ports/1/";
  private static final long NEEDED = 512L << 20;

  private final Path root;
  private final Map<String, String> environment = new TreeMap<>();
  private final Map<String, String> spark = new TreeMap<>();
  private boolean given;
  private Runnable pause = () -> {};
  private Optional<DeviceChoice> choice = Optional.empty();
  private boolean usable;
  private Optional<Probe> probe = Optional.empty();
  private String reason = "ibverbs: no RDMA device";

  /** A machine with Linux 6.12 whose files are below this directory. */
  public FakeMachine(Path root) {
    this.root = root;
    file("proc/sys/kernel/osrelease", "6.12.117\n");
    file("proc/self/mountinfo", "22 1 0:18 / / rw,relatime - ext4 /dev/sda1 rw\n");
  }

  /** Adds a file of the machine, with its path as seen from the root. */
  public FakeMachine file(String name, String text) {
    try {
      Path file = root.resolve(name);
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Adds a variable of the environment. */
  public FakeMachine variable(String key, String value) {
    environment.put(key, value);
    return this;
  }

  FakeMachine setting(String key, String value) {
    spark.put(key, value);
    return this;
  }

  /** The settings of a file of {@code --conf}. */
  public FakeMachine conf(Path file) throws IOException {
    SparkSettings read = SparkSettings.read(file, new Properties());
    spark.putAll(read.values());
    given = true;
    return this;
  }

  FakeMachine pause(Runnable action) {
    pause = action;
    return this;
  }

  /** The reason of the probe why no device is used. */
  public FakeMachine reason(String text) {
    reason = text;
    return this;
  }

  /** The probe has chosen a device of this engine. */
  FakeMachine device(String engine, TransportType transport) {
    DeviceInfo info = new DeviceInfo("any0", engine, transport, 1, null, Set.of(), List.of());
    choice = Optional.of(new DeviceChoice(info, 1, List.of(), "only one"));
    return this;
  }

  /** The probe has used the device that an executor with this address of Spark chooses. */
  FakeMachine usedOf(InetAddress sparkHost, List<DeviceInfo> devices) {
    try {
      DeviceSelector selector = ShuffleSettings.defaults().device(sparkHost, 0);
      choice =
          Optional.of(
              DeviceChoice.all(devices, selector, one -> new NetworkAddress(one, 24)).get(0));
      usable = true;
      return this;
    } catch (VerbsException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The result of a real probe. */
  public FakeMachine probe(Probe real) {
    probe = Optional.of(real);
    return this;
  }

  /** Limits of locked memory, in bytes or "unlimited". */
  public FakeMachine memlock(String soft, String hard) {
    return file(
        "proc/self/limits",
        "Limit   Soft Limit   Hard Limit   Units\nMax locked memory   %s   %s   bytes\n"
            .formatted(soft, hard));
  }

  /** Soft RoCE as Linux 6.12 shows it, with one address of IPv4. */
  FakeMachine rxe() {
    file("sys/class/net/wire1/mtu", "1500\n");
    file("sys/module/ib_core/parameters/netns_mode", "Y\n");
    file("sys/module/rdma_rxe/initstate", "live\n");
    return deviceFiles().port("rxe0", "4: ACTIVE", "2.5 Gb/sec (1X SDR)", "wire1");
  }

  FakeMachine port(String device, String state, String rate, String network) {
    String port = PORT.formatted(device);
    file(port + "state", state + "\n");
    file(port + "rate", rate + "\n");
    file(port + "link_layer", "Ethernet\n");
    gid(port, 0, "fe80:0000:0000:0000:0425:54ff:fe35:64c2", "RoCE v2", network);
    gid(port, 1, "0000:0000:0000:0000:0000:ffff:0a63:0101", "RoCE v2", network);
    file(port + "gids/2", "0000:0000:0000:0000:0000:0000:0000:0000\n");
    return this;
  }

  private void gid(String port, int index, String gid, String type, String network) {
    file(port + "gids/" + index, gid + "\n");
    file(port + "gid_attrs/types/" + index, type + "\n");
    file(port + "gid_attrs/ndevs/" + index, network + "\n");
  }

  FakeMachine deviceFiles() {
    file("dev/infiniband/uverbs0", "");
    file("dev/infiniband/rdma_cm", "");
    file("sys/class/infiniband_verbs/abi_version", "6\n");
    return file("sys/class/misc/rdma_cm/abi_version", "4\n");
  }

  Facts facts() {
    PinnedLimit limit = new PinnedLimit(NEEDED, "the minimum of: tests", NEEDED);
    return new Facts(
        new SystemFiles(root),
        environment,
        new SparkSettings(spark, given || !spark.isEmpty()),
        probe.orElse(
            new Probe(
                choice, usable, usable ? List.of() : List.of(reason), limit, Map.of(), Map.of())),
        List.of(),
        pause);
  }

  /** The report of all checks. */
  public Doctor.Report report() {
    return Doctor.run(facts());
  }

  /** The findings of one check, each with its level and advice in one line. */
  List<String> findings(Function<Facts, List<Finding>> check) {
    return check.apply(facts()).stream()
        .map(finding -> finding.level() + " " + finding.message() + " | " + finding.advice())
        .toList();
  }
}
