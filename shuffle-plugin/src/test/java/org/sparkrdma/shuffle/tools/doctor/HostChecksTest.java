// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.device.Transport;

/** Checks of the host on directories like the files of several machines. */
class HostChecksTest extends FakeMachineFixture {
  @Test
  void shouldExplainABareMachine() {
    Doctor.Report report = machine.report();
    assertThat(report.usable()).isFalse();
    assertThat(report.summary()).isEqualTo("RDMA will not be used: ibverbs: no RDMA device");
    assertThat(machine.findings(HostChecks::libraries))
        .contains(
            "PROBLEM libibverbs.so.1 was not found. | apt install libibverbs1 librdmacm1"
                + " ibverbs-providers, or dnf install libibverbs librdmacm");
    assertThat(machine.findings(HostChecks::modules))
        .singleElement()
        .asString()
        .startsWith("PROBLEM No RDMA card: ")
        .contains("rdma link add rxe0 type rxe");
    assertThat(machine.findings(HostChecks::deviceFiles)).isEmpty();
    assertThat(machine.findings(PortsCheck::run)).isEmpty();
    assertThat(report.steps()).hasSize(2);
    assertThat(report.steps().get(0).message()).startsWith("No RDMA card: ");
    assertThat(report.checks()).isGreaterThan(report.passed());
  }

  @Test
  void shouldDistinguishAMissingDriverFromAMissingCardByTheIdsOfPciDevices() {
    pci("0000:00:03.0", "0x020000", "0x15ad", "0x07b0");
    pci("0000:00:04.0", "0x010802", "0x15b3", "0x1017");
    pci("0000:00:05.0", "0x020000", "0x1d0f", "0xec20");
    pci("0000:00:06.0", "0x020000", "0x8086", "0x100e");
    assertThat(machine.findings(HostChecks::modules))
        .singleElement()
        .asString()
        .startsWith("PROBLEM No RDMA card: ");
    pci("0000:41:00.0", "0x020700", "0x15b3", "0x1017");
    pci("0000:42:00.0", "0x020000", "0x1d0f", "0xefa1");
    assertThat(machine.findings(HostChecks::modules))
        .singleElement()
        .asString()
        .startsWith("PROBLEM No RDMA driver: ")
        .contains("0000:41:00.0 15b3:1017 of NVIDIA (Mellanox), driver mlx5_ib")
        .contains("0000:42:00.0 1d0f:efa1 of Amazon EFA, driver efa, which")
        .doesNotContain("0000:00:0");
  }

  private void pci(String slot, String type, String vendor, String device) {
    String directory = "sys/bus/pci/devices/" + slot + "/";
    machine
        .file(directory + "class", type + "\n")
        .file(directory + "vendor", vendor + "\n")
        .file(directory + "device", device + "\n");
  }

  @Test
  void shouldLeaveOutChecksOfHardwareWhenTheDeviceOfAnyEngineIsLoopback() {
    machine.device("fourth", Transport.LOOPBACK);
    assertThat(machine.report().findings())
        .doesNotContainKeys("kernel modules", "libraries", "device files", "ports", "environment")
        .containsKeys("settings", "java", "local directories", "engine");
    assertThat(machine.findings(SettingsCheck::encryption)).isEmpty();
  }

  @Test
  void shouldReportMissingModulesAndLibrariesWhenTheDeviceIsHardware() {
    machine.rxe().device("fourth", Transport.INFINIBAND);
    delete("sys/class/infiniband_verbs/abi_version");
    delete("sys/class/infiniband_verbs");
    assertThat(machine.findings(HostChecks::modules))
        .contains("PROBLEM The module ib_uverbs is not loaded. | modprobe ib_uverbs (on the host)");
    assertThat(machine.findings(HostChecks::libraries))
        .anyMatch(text -> text.startsWith("PROBLEM "));
  }

  @Test
  void shouldAdviseAStepTowardsRdmaWhenOnlyTheEngineHasAReason() {
    machine.rxe();
    Map<String, String> steps =
        Map.of(
            "no usable device: rxe0 port 1 is not active: state=DOWN",
                "bring a port up: ip link set",
            "no usable device: mlx5_0 port 1 has no IP address in this network namespace: give",
                "give the port an IP address as the sentence says",
            "rdma_bind_addr failed: the kernel or librdmacm may lack AF_IB, so give the port an IP",
                "give the port an IP address as the sentence says",
            "no usable device: mlx5_0 port 1 has only link-local addresses, which",
                "give the port an IP address as the sentence says",
            "no usable device: rxe0 is not in spark.shuffle.rdma.device",
                "choose a device, a port and an address of those under ports",
            "ibverbs: no permission: user=spark may not read", "give this user access",
            "ibverbs: no RDMA device: the kernel lists none", "run this on a host with",
            "memory cannot be registered: start the container with --ulimit", "do as the sentence",
            "no room for an executor: start fewer executors on this host", "do as the sentence",
            "disni: java.lang.UnsatisfiedLinkError", "run ibv_devinfo here");
    steps.forEach(
        (reason, step) ->
            assertThat(EngineCheck.run(machine.reason(reason).facts(), false))
                .singleElement()
                .satisfies(finding -> assertThat(finding.level()).isEqualTo(Level.PROBLEM))
                .satisfies(finding -> assertThat(finding.advice()).startsWith(step)));
  }

  @Test
  void shouldSendToTheProblemsAboveOfWhichTheReasonOfTheEngineFollows() {
    machine.rxe().reason("ibverbs: /dev/infiniband/rdma_cm is not there: load the module rdma_ucm");
    delete("dev/infiniband/rdma_cm");
    assertThat(machine.report().findings().get("engine"))
        .singleElement()
        .satisfies(
            finding ->
                assertThat(finding.advice())
                    .isEqualTo("solve the problems above, then run this again"));
  }

  @Test
  void shouldAdviseHowToRaiseALimitOfLockedMemoryThatIsTooSmall() {
    machine.memlock("65536", "131072").variable("KUBERNETES_SERVICE_HOST", "10.0.0.1");
    assertThat(machine.findings(LockedMemoryCheck::run))
        .last()
        .asString()
        .startsWith(
            "PROBLEM This process may lock 65536 bytes (soft limit), at most 131072 (hard limit)."
                + " That is too little for any RDMA; an executor uses up to 536870912 bytes (512 MiB). | in"
                + " Kubernetes add the capability IPC_LOCK");
  }

  @Test
  void shouldNoteThatTheOverheadIsNotConsideredWithoutTheClusterManager() {
    String note =
        "NOTE spark.master is not set: the limit of spark.executor.memoryOverhead on YARN and"
            + " Kubernetes is not considered. | on YARN and Kubernetes add spark.master to the file of"
            + " --conf, because an executor may pin less there";
    Check check = LockedMemoryCheck::run;

    assertThat(machine.memlock("unlimited", "unlimited").findings(check)).doesNotContain(note);
    machine.setting("spark.executor.memoryOverhead", "1792m");
    assertThat(machine.findings(check)).containsOnlyOnce(note);
    machine.setting("spark.master", "yarn");
    assertThat(machine.findings(check)).doesNotContain(note);
  }

  @Test
  void shouldReportHowManyFilesAnExecutorHasOpen() {
    String limits =
        "Max locked memory  unlimited  unlimited  bytes\nMax open files  %s  4096  files";
    machine.file("proc/self/limits", limits.formatted("1024"));
    assertThat(machine.findings(LockedMemoryCheck::run))
        .contains(
            "OK This process may have 1024 files open; an executor with RDMA has about 25 more open"
                + " than one without, and starts RDMA only when 64 are free. | nothing");
    machine.file("proc/self/limits", limits.formatted("256"));
    assertThat(machine.findings(LockedMemoryCheck::run))
        .last()
        .asString()
        .startsWith("PROBLEM This process may have 256 files open")
        .endsWith("| raise the limit of the executors (ulimit -n) to 4096 or more");
  }

  @Test
  void shouldWarnWhenMappingsDoNotSufficeForTheMemoryThatMayBePinned() {
    machine.file("proc/sys/vm/max_map_count", "100\n");
    assertThat(machine.memlock("unlimited", "unlimited").findings(LockedMemoryCheck::run))
        .last()
        .asString()
        .startsWith("WARNING A process may have 100 mappings (vm.max_map_count)")
        .contains("| raise it: sysctl -w vm.max_map_count=");
    machine.file("proc/sys/vm/max_map_count", "65530\n");
    assertThat(machine.findings(LockedMemoryCheck::run))
        .noneMatch(text -> text.contains("max_map_count"));
  }

  @Test
  void shouldAcceptASmallLimitOfLockedMemoryWithTheCapability() {
    machine
        .memlock("65536", "65536")
        .file("proc/self/uid_map", "         0          0 4294967295\n")
        .file("proc/self/status", "Name:\tjava\nCapEff:\t0000000000004000\n");
    assertThat(machine.findings(LockedMemoryCheck::run))
        .last()
        .asString()
        .startsWith("OK ")
        .contains("CAP_IPC_LOCK");
  }

  @Test
  void shouldNameVersionsOfLibrariesAndTheirPartsForCards() throws IOException {
    String folder = "usr/lib/x86_64-linux-gnu/";
    machine
        .file(folder + "libibverbs.so.1.14.44.0", "")
        .file(folder + "librdmacm.so.1.3.44.0", "")
        .file(folder + "libibverbs/libmlx5-rdmav34.so", "")
        .file(folder + "libibverbs/librxe-rdmav34.so", "");
    link(folder + "libibverbs.so.1", "libibverbs.so.1.14.44.0");
    link(folder + "librdmacm.so.1", "librdmacm.so.1.3.44.0");
    assertThat(machine.findings(HostChecks::libraries))
        .containsExactly(
            "OK libibverbs.so.1 is /" + folder + "libibverbs.so.1.14.44.0. | nothing",
            "OK librdmacm.so.1 is /" + folder + "librdmacm.so.1.3.44.0. | nothing",
            "OK libibverbs has parts for: mlx5 rxe. | nothing");
    delete(folder + "libibverbs/libmlx5-rdmav34.so");
    delete(folder + "libibverbs/librxe-rdmav34.so");
    assertThat(machine.findings(HostChecks::libraries))
        .anyMatch(text -> text.contains("no part for any card"));
  }

  @Test
  void shouldNoteThatLinux61WritesRegisteredMapOutputsAgain() {
    assertThat(machine.findings(HostChecks::system))
        .containsExactly("OK Linux 6.12.117 on amd64. | nothing");
    machine.file("proc/sys/kernel/osrelease", "6.1.0-31-amd64\n");
    assertThat(machine.findings(HostChecks::system))
        .singleElement()
        .asString()
        .startsWith("NOTE Linux 6.1.0-31-amd64")
        .endsWith(" | nothing, unless spark.shuffle.rdma.serve=window is set");
    machine.file("proc/sys/kernel/osrelease", "6.2.0\n");
    assertThat(machine.findings(HostChecks::system))
        .containsExactly("OK Linux 6.2.0 on amd64. | nothing");
    assertThat(machine.java("os.name", "Mac OS X").findings(HostChecks::system))
        .singleElement()
        .asString()
        .startsWith("PROBLEM This is Mac OS X");
  }

  @Test
  void shouldWarnThatThisHostDoesNotHaveSparksAddress() throws IOException {
    Check check = HostChecks::sparkAddress;
    assertThat(machine.findings(check)).isEmpty();
    // An address for documentation (RFC 5737).
    machine.sparkHost(InetAddress.getByName("203.0.113.77"));
    assertThat(machine.findings(check))
        .containsExactly(
            "WARNING 203.0.113.77, assumed to be Spark's own address, is not an address of this host."
                + " | run this on the host that has it, give an address of this host with --host,"
                + " or correct SPARK_LOCAL_IP or the address of the host's name");
    assertThat(machine.report().findings().get("spark address")).hasSize(1);
    assertThat(machine.sparkHost(InetAddress.getByName("127.0.0.2")).findings(check)).isEmpty();
  }

  @Test
  void shouldReadLimitsOfDeviceObjectsOfBothVersionsOfControlGroups() {
    machine
        .file("proc/self/cgroup", "0::/pod\n5:rdma:/docker\n")
        .file("sys/fs/cgroup/pod/rdma.max", "mlx5_0 hca_handle=2 hca_object=50\n")
        .file("sys/fs/cgroup/pod/memory.max", "" + (1L << 30))
        .file("sys/fs/cgroup/rdma/docker/rdma.max", "mlx5_1 hca_handle=max hca_object=max\n");
    assertThat(machine.findings(HostChecks::controlGroups))
        .contains(
            "OK The memory limit of the control groups is 1024 MiB; pinned memory counts as part of it. | nothing")
        .contains(
            "OK The limit of objects of an RDMA device is mlx5_1 hca_handle=max hca_object=max."
                + " | nothing")
        .anyMatch(
            text -> text.startsWith("PROBLEM") && text.contains("hca_object=50. That is too"));
  }
}
