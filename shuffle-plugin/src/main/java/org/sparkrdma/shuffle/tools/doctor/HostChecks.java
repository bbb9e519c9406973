// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.pinned.ControlGroups;
import org.sparkrdma.shuffle.pinned.MemlockRemedy;
import org.sparkrdma.shuffle.pinned.ObjectLimit;
import org.sparkrdma.shuffle.pinned.WritePins;

/** Checks of the operating system, its libraries, modules and device files. Stateless. */
final class HostChecks {
  /** Operating system, processor and kernel. */
  static List<Finding> system(Facts facts) {
    String system = facts.java().getOrDefault("os.name", "unknown");
    String processor = facts.java().getOrDefault("os.arch", "unknown");
    if (!system.equals("Linux")) {
      return List.of(
          Finding.problem(
              "This is " + system + " on " + processor + "; RDMA needs Linux.",
              "run executors on Linux, x86-64 or aarch64"));
    }
    String kernel = facts.files().text("proc/sys/kernel/osrelease").orElse("of unknown version");
    String text = "Linux " + kernel + " on " + processor + ".";
    if (WritePins.byKernel(kernel)) {
      return List.of(
          Finding.note(
              text
                  + " Linux before 6.2 marks registered pages of files as changed, so it writes map outputs"
                  + " to the disk once more. By default they are copied instead.",
              "nothing, unless spark.shuffle.rdma.serve=window is set"));
    }
    return List.of(Finding.ok(text));
  }

  /** Kind of environment: container, service or shell. */
  static List<Finding> environment(Facts facts) {
    MemlockRemedy here = MemlockRemedy.current(facts.environment(), facts.files().root());
    String what =
        switch (here) {
          case KUBERNETES -> "a container of Kubernetes";
          case YARN -> "a container of YARN";
          case CONTAINER -> "a container";
          case SYSTEMD -> "a service of systemd";
          case SHELL -> "a shell or another program";
        };
    String text = "This process runs in " + what + ".";
    return List.of(
        here == MemlockRemedy.SHELL
            ? Finding.note(
                text + " Limits and permissions of executors may differ.",
                "run this command as the user and with the limits of Spark's worker, or by"
                    + " spark-submit on the cluster")
            : Finding.ok(text));
  }

  private static final String INSTALL =
      "apt install libibverbs1 librdmacm1 ibverbs-providers, or dnf install libibverbs librdmacm";
  private static final String PLUGINS = "libibverbs";
  private static final String SUFFIX = "-rdmav";

  /** The system's libibverbs and librdmacm with their versions, and the libraries for cards. */
  static List<Finding> libraries(Facts facts) {
    List<Finding> findings = new ArrayList<>();
    for (String file : List.of("libibverbs.so.1", "librdmacm.so.1")) {
      findings.add(
          find(facts, file)
              .map(path -> Finding.ok(file + " is " + path + "."))
              .orElseGet(() -> Finding.problem(file + " was not found.", INSTALL)));
    }
    if (findings.stream().allMatch(finding -> finding.level() == Level.OK)) {
      List<String> drivers = drivers(facts);
      findings.add(
          drivers.isEmpty()
              ? Finding.problem(
                  "libibverbs has no part for any card.",
                  "apt install ibverbs-providers, or dnf install libibverbs")
              : Finding.ok("libibverbs has parts for: " + String.join(" ", drivers) + "."));
    }
    return findings;
  }

  /** The file that a library's name leads to, whose name has the version. */
  private static Optional<Path> find(Facts facts, String file) {
    Path root = facts.files().root();
    return folders(facts)
        .map(folder -> root.resolve(folder).resolve(file))
        .filter(Files::exists)
        .findFirst()
        .map(
            found -> {
              try {
                return Path.of("/").resolve(root.toRealPath().relativize(found.toRealPath()));
              } catch (IOException e) {
                return found;
              }
            });
  }

  private static List<String> drivers(Facts facts) {
    return folders(facts)
        .flatMap(folder -> facts.files().names(folder + "/" + PLUGINS).stream())
        .filter(name -> name.startsWith("lib") && name.contains(SUFFIX))
        .map(name -> name.substring("lib".length(), name.indexOf(SUFFIX)))
        .distinct()
        .sorted()
        .toList();
  }

  /** Folders of the dynamic linker, without the first slash. */
  private static Stream<String> folders(Facts facts) {
    String triplet =
        facts.java().getOrDefault("os.arch", "").equals("aarch64")
            ? "aarch64-linux-gnu"
            : "x86_64-linux-gnu";
    Stream<String> usual =
        Stream.of("lib64", "usr/lib64", "lib/" + triplet, "usr/lib/" + triplet, "lib", "usr/lib");
    Stream<String> configured =
        facts.files().names("etc/ld.so.conf.d").stream()
            .flatMap(name -> facts.files().lines("etc/ld.so.conf.d/" + name).stream())
            .map(String::trim);
    Stream<String> variable =
        Stream.of(facts.environment().getOrDefault("LD_LIBRARY_PATH", "").split(":", -1));
    return Stream.concat(
        Stream.concat(variable, configured)
            .filter(folder -> folder.startsWith("/"))
            .map(folder -> folder.substring(1)),
        usual);
  }

  /** PCI network devices of which some do RDMA; {@code devices} are begins of device ids. */
  private record Card(String vendor, List<String> devices, String name, String driver) {
    boolean is(String vendorId, String deviceId) {
      return vendor.equals(vendorId) && devices.stream().anyMatch(deviceId::startsWith);
    }
  }

  /** Drivers are those in drivers/infiniband of the kernel. */
  private static final List<Card> CARDS =
      List.of(
          new Card("15b3", List.of(""), "NVIDIA (Mellanox)", "mlx5_ib"),
          new Card(
              "8086", List.of("124", "12d", "159", "188", "189", "37c", "37d"), "Intel", "irdma"),
          new Card(
              "14e4",
              List.of("16c", "16d", "16e", "16f", "175", "176", "180"),
              "Broadcom",
              "bnxt_re"),
          new Card("1d0f", List.of("efa"), "Amazon EFA", "efa, which has no RC queue pairs"),
          new Card("1414", List.of("00ba"), "Microsoft MANA", "mana_ib"),
          new Card("1ded", List.of("107f"), "Alibaba", "erdma"),
          new Card("1425", List.of(""), "Chelsio", "iw_cxgb4"),
          new Card("19e5", List.of("a22"), "Huawei", "hns_roce_hw_v2"),
          new Card("1077", List.of("16", "80"), "Marvell (QLogic)", "qedr"),
          new Card("10df", List.of("07"), "Emulex", "ocrdma"),
          new Card("15ad", List.of("0820"), "VMware PVRDMA", "vmw_pvrdma"));

  private static final String PCI = "sys/bus/pci/devices/";
  private static final String NETWORK_CLASS = "0x02";

  /** The kernel modules that programs with RDMA need, the drivers of devices, and cards. */
  static List<Finding> modules(Facts facts) {
    if (facts.devices().isEmpty()) {
      return List.of(withoutDevice(facts));
    }
    List<Finding> findings = new ArrayList<>();
    findings.add(need(facts, "ib_uverbs", "sys/class/infiniband_verbs"));
    findings.add(need(facts, "rdma_ucm", "sys/class/misc/rdma_cm"));
    findings.add(Finding.ok("RDMA devices: " + String.join(" ", facts.devices()) + "."));
    return findings;
  }

  /** Distinguishes a missing card from a missing driver by the ids of PCI devices. */
  private static Finding withoutDevice(Facts facts) {
    List<String> cards = new ArrayList<>();
    for (String slot : facts.files().names(PCI)) {
      String type = facts.files().text(PCI + slot + "/class").orElse("");
      String vendor = id(facts, slot, "vendor");
      String device = id(facts, slot, "device");
      for (Card card : CARDS) {
        if (type.startsWith(NETWORK_CLASS) && card.is(vendor, device)) {
          cards.add(
              String.format(
                  Locale.ROOT,
                  "%s %s:%s of %s, driver %s",
                  slot,
                  vendor,
                  device,
                  card.name(),
                  card.driver()));
        }
      }
    }
    return cards.isEmpty()
        ? Finding.problem(
            "No RDMA card: no PCI network device of this host does RDMA.",
            "run executors on hosts with an RDMA card; for tests without a card: modprobe rdma_rxe"
                + " && rdma link add rxe0 type rxe netdev INTERFACE")
        : Finding.problem(
            "No RDMA driver: the kernel lists no RDMA device, but there are cards that may do"
                + " RDMA: "
                + String.join("; ", cards)
                + ".",
            "load the driver on the host (modprobe), or install it with the package of the kernel's"
                + " extra modules or from the vendor");
  }

  private static String id(Facts facts, String slot, String file) {
    return facts.files().text(PCI + slot + "/" + file).orElse("").replaceFirst("^0x", "");
  }

  /** A module that is built into the kernel shows itself by its class only. */
  private static Finding need(Facts facts, String module, String sign) {
    return facts.exists("sys/module/" + module) || facts.exists(sign)
        ? Finding.ok(module + " is in the kernel.")
        : Finding.problem(
            "The module " + module + " is not loaded.", "modprobe " + module + " (on the host)");
  }

  private static final String NODES = "dev/infiniband";
  private static final String CONNECTIONS = "rdma_cm";

  /** The files in /dev/infiniband by which programs reach devices, and their permissions. */
  static List<Finding> deviceFiles(Facts facts) {
    List<String> nodes = new ArrayList<>(facts.files().names(NODES));
    nodes.removeIf(node -> !node.startsWith("uverbs") && !node.equals(CONNECTIONS));
    if (nodes.stream().noneMatch(node -> node.startsWith("uverbs"))) {
      return facts.devices().isEmpty()
          ? List.of()
          : List.of(
              Finding.problem(
                  "The kernel has RDMA devices "
                      + facts.devices()
                      + ", but this process sees no /dev/infiniband/uverbs file.",
                  "start the container with --device=/dev/infiniband, on Kubernetes with a device"
                      + " plug-in; on a host load the module ib_uverbs"));
    }
    List<Finding> findings = new ArrayList<>();
    if (!nodes.contains(CONNECTIONS)) {
      findings.add(
          Finding.problem(
              "/dev/infiniband/rdma_cm is missing, so no connections can be made.",
              "modprobe rdma_ucm, or start the container with --device=/dev/infiniband/rdma_cm"));
    }
    for (String node : nodes) {
      Path file = facts.files().root().resolve(NODES).resolve(node);
      boolean open = Files.isReadable(file) && Files.isWritable(file);
      String user = facts.user();
      findings.add(
          open
              ? Finding.ok("user=" + user + " may use /dev/infiniband/" + node + ".")
              : Finding.problem(
                  "user=" + user + " may not read and write /dev/infiniband/" + node + ".",
                  "add the user to the group of that file, or remove the udev rule that restricts it:"
                      + " the kernel creates it with rw for all users"));
    }
    return findings;
  }

  /** Whether devices are shared between network namespaces, see rdma-system(8). */
  static List<Finding> namespace(Facts facts) {
    Optional<String> shared = facts.files().text("sys/module/ib_core/parameters/netns_mode");
    if (shared.isEmpty()) {
      return List.of();
    }
    return List.of(
        shared.get().equals("Y")
            ? Finding.ok("RDMA devices are shared by all network namespaces.")
            : Finding.note(
                "Each RDMA device belongs to one network namespace.",
                "give a container with a network of its own its device: rdma dev set DEVICE netns"
                    + " NAME"));
  }

  /** An executor has some objects for itself and about three for each connection. */
  private static final long FEW_OBJECTS = 100;

  /** Limits of this process's control groups: memory, and objects of RDMA devices. */
  static List<Finding> controlGroups(Facts facts) {
    List<Finding> findings = new ArrayList<>();
    OptionalLong memory = facts.memory().containerBytes();
    findings.add(
        Finding.ok(
            memory.isPresent()
                ? "The memory limit of the control groups is "
                    + (memory.getAsLong() >> 20)
                    + " MiB; pinned memory counts as part of it."
                : "Control groups do not limit memory."));
    for (String line : new ControlGroups(facts.files()).rdmaLimits()) {
      boolean few = ObjectLimit.parse(line).filter(l -> l.objects() < FEW_OBJECTS).isPresent();
      String words = "The limit of objects of an RDMA device is " + line + ".";
      findings.add(
          few
              ? Finding.problem(
                  words + " That is too few: an executor has about three for each connection.",
                  "raise it in rdma.max of the group, or remove it (max)")
              : Finding.ok(words));
    }
    return findings;
  }

  /** Whether this host has Spark's own address, by which an executor chooses its device. */
  static List<Finding> sparkAddress(Facts facts) {
    return facts
        .sparkHost()
        .filter(address -> !isOfThisHost(address))
        .map(
            address ->
                List.of(
                    Finding.warning(
                        address.getHostAddress()
                            + ", assumed to be Spark's own address, is not an address of this host.",
                        "run this on the host that has it, give an address of this host with"
                            + " --host, or correct SPARK_LOCAL_IP or the address of the host's name")))
        .orElse(List.of());
  }

  private static boolean isOfThisHost(InetAddress address) {
    try {
      // All of 127.0.0.0/8 works, although an interface has one of them only.
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      // The interfaces cannot be listed; then nothing is known against the address.
      return true;
    }
  }

  private HostChecks() {}
}
