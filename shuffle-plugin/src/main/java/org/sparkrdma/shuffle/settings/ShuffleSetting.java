// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.time.Duration;

/**
 * Every key of the plug-in, without the engines' own: name, default, allowed values, meaning.
 *
 * <p>Names: lower-case words separated by dots, the subject first and the quantity last. {@code
 * .max} and {@code .min} are limits, {@code .size} is a length in bytes, {@code .timeout} a
 * duration after which something ends, {@code .threads} a number of threads. A key that chooses
 * between ways of working is one word. Engines name their keys by the same rules.
 *
 * <p>Meanings: the first sentence says what the key controls, the second the effect of raising it,
 * the third when to change it.
 */
public enum ShuffleSetting {
  /** Whether RDMA is used. */
  MODE(
      "mode",
      "auto",
      ValueType.choice("auto", "required", "off"),
      "Controls whether blocks are fetched by RDMA: `auto` uses RDMA where it can and "
          + "otherwise logs one WARN with the reason; `required` runs tasks only in executors with "
          + "RDMA and fails them where there is none; `off` is plain Spark. `required` turns a "
          + "silent loss of speed into idle executors or a failed job. Use `required` in tests and "
          + "benchmarks, and `off` to exclude RDMA as the cause of a problem."),
  /** Whether executors check their machine. */
  DOCTOR(
      "doctor",
      "false",
      ValueType.flag(),
      "Controls whether each executor runs the checks of the command `doctor` when it starts, for at "
          + "most 10 s and beside its tasks; the driver logs what they find as one table. With `true` each "
          + "executor that uses RDMA opens its device again for a moment and registers a small file in each "
          + "local directory. Set it to `true` for the first application on a cluster, and to find out why "
          + "executors do not use RDMA; it has no effect with `mode`=`off` or in local mode."),
  /** Which verbs engine. */
  ENGINE(
      "engine",
      "auto",
      ValueType.text("auto, or an engine's name"),
      "Controls which verbs engine is used: `ibverbs`, `disni`, `soft`, or another one that Java's"
          + " ServiceLoader finds; `auto` takes the first engine that finds a device. It never takes "
          + "`disni`, which needs `fabric.trusted=true` and software that you install, or `soft`, "
          + "which is a loopback device for tests and demonstrations on one host. A named engine is "
          + "the only one that is tried. Name an engine to use it, or to learn why it cannot run."),
  /** Which devices. */
  DEVICE(
      "device",
      "auto",
      ValueType.text("auto, or device names separated by commas"),
      "Controls which RDMA device is used, for example `mlx5_0`; `auto` takes a device with "
          + "an active port whose address peers can reach, and logs its choice with the reason. The "
          + "executors of a host are spread over all devices, or those named, that are in one "
          + "subnet: first that of Spark's own address (see `rails.routed`). Set it when a host has devices that must not carry shuffle data, "
          + "or several that shall share the load; several in one layer-2 network need "
          + "`net.ipv4.conf.all.arp_ignore=1` and `arp_announce=2` on each host."),
  /** Whether a router joins the subnets of a host's devices. */
  RAILS_ROUTED(
      "rails.routed",
      "false",
      ValueType.flag(),
      "Controls whether the executors of a host are spread over devices in different subnets. With "
          + "`false` all executors use devices of one subnet, on each host the same: that of Spark's "
          + "own address where a device has it, else the lowest that is allowed; "
          + "`listen.address` names another one. With `true` an executor on one subnet reaches one on "
          + "another only through a router; without one their blocks use TCP. Set it to `true` when "
          + "hosts have several devices, each in a subnet of its own, and a router joins the subnets."),
  /** Which port of the device. */
  DEVICE_PORT(
      "device.port",
      ValueType.DERIVED,
      ValueType.count(1, 255).orDerived(),
      "Controls which physical port of the device is used, counted as by `ibv_devinfo`; it is "
          + "not a TCP port number, see `listen.port`. With a number, all other ports are ignored. "
          + "Set it when a device has several active ports and only one leads to the peers."),
  /** Which entry of the GID table. */
  GID_INDEX(
      "gid.index",
      ValueType.DERIVED,
      ValueType.count(0, 65_535).orDerived(),
      "Controls the index of the GID whose address is used, as listed by `ibv_devinfo -v`. "
          + "With a number, all other GIDs are ignored. Set it when a port has several addresses, "
          + "for example one for each VLAN. `listen.address` with a network as its value is an "
          + "alternative that is the same on each host. An InfiniBand port without an IP address is "
          + "used by this GID itself, by its first one without a number."),
  /** Which type of GID. */
  GID_TYPE(
      "gid.type",
      "auto",
      ValueType.choice("auto", "infiniband", "roce-v1", "roce-v2", "iwarp"),
      "Controls which type of GID may be used. With a type, addresses without a GID of this "
          + "type are ignored; which of RoCE v1 and v2 a connection uses is still decided by the "
          + "kernel (`default_roce_mode` of `rdma_cm` in configfs). Set it to exclude RoCE v1 in a "
          + "routed network."),
  /** Addresses on which the executor listens. */
  LISTEN_ADDRESS(
      "listen.address",
      "auto",
      ValueType.address(
          "auto, a literal address, an interface name or a network such as 10.1.0.0/16"),
      "Controls the address where this executor accepts RDMA connections; `auto` takes the "
          + "address of Spark's block manager where the device has it. The executor also listens on "
          + "all other addresses of the device's port that are allowed, and peers connect to one in "
          + "a subnet of their own. A network such as "
          + "10.1.0.0/16 selects the right address on every host; fe80::/10 selects link-local "
          + "addresses, which are not used otherwise. Set it when RDMA has a network of its own, "
          + "apart from Spark's addresses."),
  /** Port to listen on. */
  LISTEN_PORT(
      "listen.port",
      "0",
      ValueType.count(0, 65_535),
      "Controls the port of the RDMA listener; 0 takes a free port. With a fixed port only "
          + "one executor of a host can listen. With iWARP and without the port mapper `iwpmd` it is "
          + "a TCP port: set it for a firewall that allows single ports, and with one executor on "
          + "each host. Where `iwpmd` runs, as udev starts it for iWARP cards, it chooses the TCP "
          + "ports, and UDP port 3935 must be open as well. With RoCE v2 no firewall "
          + "sees it: all packets go to UDP port 4791, which must be open between the hosts."),
  /** The one account of pinned memory. */
  PINNED_MAX(
      "pinned.max",
      ValueType.DERIVED,
      ValueType.bytes(1L << 20, 1L << 44).orDerived(),
      "Controls the maximum memory that this executor pins, all uses included; `auto` is "
          + "the minimum of five limits: (1) a quarter of the host's memory divided by the number "
          + "of its executors, which counts as at least two; (2) half of the host's memory outside "
          + "the heaps and off-heap memory of its executors, divided by their number, which may be one; "
          + "(3) half of "
          + "the container's limit outside heap and off-heap memory; a container holds one executor "
          + "on YARN and Kubernetes, and elsewhere those executors of the host whose heaps fit into it, "
          + "so that there its limit "
          + "takes the place of the host's memory in (1) and (2) if it is lower; (4) on YARN and Kubernetes, "
          + "half of memoryOverhead, that of the executor's ResourceProfile or else "
          + "`spark.executor.memoryOverhead`, above 256 MiB; (5) on hardware, RLIMIT_MEMLOCK, "
          + "unless the process has CAP_IPC_LOCK. The executor logs the derivation. A larger value "
          + "keeps more map outputs registered and more blocks in flight, and leaves less memory for "
          + "other uses; a value above the overhead on YARN and Kubernetes, the container's limit or "
          + "RLIMIT_MEMLOCK is accepted with a WARN. Raise it when many blocks use TCP for lack of memory."),
  /** Ways of serving. */
  SERVE(
      "serve",
      "auto",
      ValueType.choice("auto", "window", "copy", "odp"),
      "Controls how blocks are served. `window` registers windows of the map-output files. "
          + "`copy` copies blocks into registered slots. `auto` copies from a window until the "
          + "copies cost as much as its registration (docs/benchmarks.md), and registers it then; "
          + "it also copies when the registration fails, and on NFS with Linux before 6.2. On a local disk such a kernel "
          + "writes registered windows once more, which counts as a cost of the registration (docs/tuning.md). "
          + "`odp` registers windows without pinning "
          + "them, if the device supports on-demand paging, else it works as `auto` with a warning. "
          + "`window` pins the most memory. `odp` reads each window before it registers it, needs a page "
          + "fault of the device for each page that leaves the memory later, and has not been tested on "
          + "a real device. Change it only for "
          + "measurements, or on Linux before 6.2 to `copy` for a network file system other than NFS."),
  /** Copying before registering. */
  COPY_FIRST(
      "copy.first",
      "true",
      ValueType.flag(),
      "Controls whether `serve=auto` copies out of a window before it registers the window. "
          + "With `false` each window is registered at its first request, also where Linux before 6.2 writes it to "
          + "the disk once more. Set it to `false` when "
          + "nearly every window is read by many reducers."),
  /** Length of a window. */
  WINDOW_SIZE(
      "window.size",
      "16m",
      ValueType.powerOfTwoBytes(1L << 16, 1L << 30),
      "Controls the length of the windows in which map-output files are registered. Larger "
          + "windows need fewer registrations, but each pins more memory beyond the requested "
          + "blocks. Reduce it when `pinned.max` is small and blocks are spread over many files."),
  /** Length of a copy slot. */
  COPY_SLOT_SIZE(
      "copy.slot.size",
      "1m",
      ValueType.powerOfTwoBytes(1L << 12, 1L << 28),
      "Controls the length of one slot of the copy pool. Larger slots hold larger blocks in "
          + "one piece and pin more memory. Change it only together with `copy.slots.max`."),
  /** Number of copy slots. */
  COPY_SLOTS_MAX(
      "copy.slots.max",
      "32",
      ValueType.count(0, 65_536),
      "Controls the maximum number of slots of the copy pool; 0 turns copying off. More slots "
          + "serve more readers at the same time and pin more memory. Raise it when the counter "
          + "`rdma.serve.by-tcp` grows while memory is free."),
  /** Time of a lease. */
  LEASE_TIMEOUT(
      "lease.timeout",
      "120s",
      ValueType.duration(Duration.ofSeconds(1), Duration.ofHours(1)),
      "Controls how long a reader may READ the memory of a lease; must be at least 2 s longer "
          + "than `request.timeout`. A longer time keeps memory for a reader that has stopped without "
          + "notice. Raise it together with `request.timeout`."),
  /** Parsed index files. */
  INDEX_CACHE_MAX(
      "index.cache.max",
      "4096",
      ValueType.count(1, 1_000_000),
      "Controls the maximum number of map outputs whose index and checksums are kept parsed. "
          + "A larger number uses more heap and reads fewer index files again. Raise it when an "
          + "executor serves more map outputs than this at the same time."),
  /** Leases of one peer. */
  PEER_LEASES_MAX(
      "peer.leases.max",
      "1024",
      ValueType.count(1, 1_000_000),
      "Controls the maximum number of leases that one peer holds of this executor; beyond it "
          + "the peer gets the answer BUSY. A larger number lets one peer hold more. Raise it when "
          + "few executors read very many small blocks from each other."),
  /** Memory leased by one peer. */
  PEER_SHARE_MAX(
      "peer.share.max",
      "50",
      ValueType.count(1, 100),
      "Controls the maximum percentage of `pinned.max`, and of the copy slots, that leases of "
          + "one peer hold; a peer may always hold one window and one slot. A larger share lets one "
          + "peer displace others. Raise it in an application with two or three executors."),
  /** Length of control messages. */
  MESSAGE_SIZE(
      "message.size",
      "16k",
      ValueType.bytes(512, 1L << 20),
      "Controls the length of the buffer of one control message. Larger messages carry more "
          + "blocks in one request, and every connection pins two buffers, more under load. Reduce "
          + "it when an executor has hundreds of peers and little memory to pin."),
  /** LOCATEs open. */
  LOCATES_MAX(
      "locates.max",
      "4",
      ValueType.count(1, 256),
      "Controls the maximum number of LOCATE messages that one connection has open. A larger "
          + "number hides more latency of the serving side and pins more buffers for each "
          + "connection under load. Raise it in a network with a long round trip."),
  /** READs posted. */
  READS_MAX(
      "reads.max",
      "64",
      ValueType.count(1, 16_384),
      "Controls the maximum number of READs that one connection has posted. A larger number "
          + "keeps the device busy with small blocks and takes more of the completion queue, which "
          + "limits the number of connections. Reduce it when an application has more executors "
          + "than connections fit."),
  /** Bytes of READs posted. */
  READS_BYTES_MAX(
      "reads.bytes.max",
      ValueType.DERIVED,
      ValueType.bytes(1L << 12, 1L << 44).orDerived(),
      "Controls the maximum bytes of READs that this executor has posted, over all connections; must "
          + "be at least 2 x `chunk.size`. `auto` is the larger of 32 MiB, which 400 Gb/s carry in 0.7 ms, and 2 x "
          + "`reads.max` x `chunk.size`, because one connection gets at most half; so a larger `reads.max` or "
          + "`chunk.size` raises it. A larger value hides a longer round trip, but more data may meet at the switch "
          + "port of this executor than its buffers hold. "
          + "Raise it in a fast network with a long round trip; reduce it when switches report congestion "
          + "towards readers."),
  /** Order of a device's writes. */
  RELAXED_ORDERING(
      "relaxed.ordering",
      "false",
      ValueType.flag(),
      "Controls whether the device may write received blocks into memory in any order "
          + "(IBV_ACCESS_RELAXED_ORDERING), which is faster on some hosts with AMD or ARM processors. Blocks are "
          + "used only after their completion, which follows all their bytes. It has no effect where the device or "
          + "the kernel (before 5.7) does not know it, and on the engines `disni` and `soft`. Set it to `true` when "
          + "`ib_read_bw` is slower with `--disable_pcie_relaxed` than without."),
  /** Length of a pool chunk. */
  CHUNK_SIZE(
      "chunk.size",
      "256k",
      ValueType.powerOfTwoBytes(1L << 12, 1L << 28),
      "Controls the length of the chunks into which receive memory is cut; a request takes at "
          + "least one chunk. Larger chunks need fewer READs for each large block and waste memory "
          + "on small blocks. Reduce it when blocks are small and receive memory is short."),
  /** Receive memory. */
  POOL_MAX(
      "pool.max",
      ValueType.DERIVED,
      ValueType.bytes(1L << 16, 1L << 44).orDerived(),
      "Controls the maximum receive memory, which is a part of `pinned.max`; `auto` is half of "
          + "that. A value above `pinned.max` is an error, and an eighth of `pinned.max` is always left "
          + "to serving. A larger pool keeps more blocks in flight; when it is used up, blocks wait at most "
          + "30 ms (in an incast 1 s), then use TCP. Raise it on executors that read much and serve little."),
  /** Maximum time until a connection is established. */
  CONNECT_TIMEOUT(
      "connect.timeout",
      "5s",
      ValueType.duration(Duration.ofMillis(10), Duration.ofMinutes(10)),
      "Controls how long blocks wait for a connection, including the proofs of both ends, and "
          + "the time limit for the look-up of a peer. Blocks wait as long, but at least 5 s, for the "
          + "start of RDMA in their own executor. The attempt itself ends after at most three "
          + "times this time in all; meanwhile blocks use TCP. A longer time delays the fallback to TCP when a peer cannot be "
          + "reached. Raise it on slow or very busy hosts."),
  /** Maximum time until a request is answered. */
  REQUEST_TIMEOUT(
      "request.timeout",
      "30s",
      ValueType.duration(Duration.ofMillis(10), Duration.ofMinutes(30)),
      "Controls how long a LOCATE, or the READs of one answer, may take, and a call of the device "
          + "(at least 5 s; half of it on the serving side). All answers of one block together may "
          + "take as long, and 1 s more for each MB that was read of it. A longer time delays the "
          + "fallback to TCP when a peer or a driver hangs. Raise it when disks of the serving "
          + "executors are "
          + "slower than this under load."),
  /** Time after which a silent peer counts as dead. */
  PEER_TIMEOUT(
      "peer.timeout",
      ValueType.DERIVED,
      ValueType.duration(Duration.ofMillis(100), Duration.ofMinutes(30)).orDerived(),
      "Controls how long a peer's device may be silent, while an answer of it is awaited, "
          + "before the peer counts as dead; a process that is stopped or pauses is not dead, "
          + "because its device answers. `auto` is the time after which this executor's own device "
          + "gives up repeating packets, and 250 ms: 4 s with the defaults of `ack.timeout` and "
          + "`ack.retry.max`. The InfiniBand specification (volume 1, section 9.7.6.1.3) allows a device "
          + "four times as long; then this time ends the connection first. A longer time delays the fallback to TCP after a host has "
          + "failed. Raise it when the network is interrupted for seconds at a time."),
  /** Time after which a packet is repeated. */
  ACK_TIMEOUT(
      "ack.timeout",
      "500ms",
      ValueType.duration(Duration.ofMillis(1), Duration.ofSeconds(60)),
      "Controls how long the device waits for the acknowledgement of a packet before it repeats it, "
          + "rounded up to 4.096 us times a power of two (500ms is 2^17, as `timeout` 17 of other RDMA "
          + "software). A longer time repeats lost packets later and tolerates longer congestion. Raise "
          + "it when connections break under congestion; iWARP and kernels without the option keep "
          + "their own time."),
  /** Number of repetitions of a packet. */
  ACK_RETRY_MAX(
      "ack.retry.max",
      "6",
      ValueType.count(0, 6),
      "Controls how often the device repeats a packet that is not acknowledged, before the "
          + "connection breaks and its blocks use TCP. More repetitions tolerate longer interruptions of "
          + "the network and detect a failed host later. Reduce it to detect failed hosts sooner; 7 is "
          + "not allowed because some devices then repeat without end."),
  /** Marking of packets. */
  TOS(
      "tos",
      ValueType.DERIVED,
      ValueType.count(0, 255).orDerived(),
      "Controls the traffic class of RDMA packets: the TOS byte of IPv4, the traffic class byte of "
          + "IPv6 and InfiniBand; the upper six bits are the DSCP, so DSCP 26 is 104. Switches map it "
          + "to a priority, with RoCE usually one without loss (PFC); `auto` keeps the system's "
          + "default (`default_roce_tos` of `rdma_cm` in configfs). Set it to the value for which "
          + "your network is configured; the loopback engine, `disni` and the kernel's soft iWARP "
          + "ignore it, with a WARN."),
  /** Time after which an idle connection is closed. */
  IDLE_TIMEOUT(
      "idle.timeout",
      "60s",
      ValueType.duration(Duration.ofMillis(100), Duration.ofDays(1)),
      "Controls how long an unused connection stays open and unused registered memory stays "
          + "registered. Connections stay open longer, up to ten times, the more of `connections.max` "
          + "and of the memory of their messages is free: with the defaults 10 minutes with a few, "
          + "5 minutes with 570, and 60 s with 1024. A longer time saves connecting and registering again between stages, and "
          + "keeps memory pinned. Raise it for interactive sessions with pauses between queries."),
  /** First quarantine. */
  QUARANTINE_MIN(
      "quarantine.min",
      "1s",
      ValueType.duration(Duration.ofMillis(1), Duration.ofHours(1)),
      "Controls how long a peer is quarantined after its first failure; the time doubles with "
          + "each further failure until data of the peer was read again. A longer time sends more blocks by TCP after a short fault. "
          + "Raise it when faults of the network last long."),
  /** Longest quarantine. */
  QUARANTINE_MAX(
      "quarantine.max",
      "60s",
      ValueType.duration(Duration.ofMillis(1), Duration.ofDays(1)),
      "Controls the longest time that a peer is quarantined; must be at least "
          + "`quarantine.min`. A longer time means fewer attempts to connect to a faulty peer, and "
          + "a later return to RDMA after its recovery. Raise it when attempts to connect disturb "
          + "the network."),
  /** Connections at once. */
  CONNECTIONS_MAX(
      "connections.max",
      "1024",
      ValueType.count(1, 65_536),
      "Controls the maximum number of connections at the same time. Beyond it, the connection that has been "
          + "idle longest is closed for a new one, but only if neither end uses it. Where none may be closed, the "
          + "attempt is repeated for 315 ms; then its blocks use TCP. A larger number pins more buffers and takes "
          + "more of the completion queue. Raise it above the number of executors of the application."),
  /** Connection attempts at once. */
  ATTEMPTS_MAX(
      "attempts.max",
      "32",
      ValueType.count(1, 65_536),
      "Controls the maximum number of connection attempts of an executor at the same time; further "
          + "peers wait for their turn, their blocks at most for `connect.timeout`. A peer that has not "
          + "answered for that time is given up when others wait for their turn. More attempts "
          + "connect to all peers sooner, and can overload the network's subnet manager and the "
          + "peers. Raise it when INFO lines say `too many connection attempts`; reduce it when they say "
          + "`no connection in time` while a stage starts."),
  /** Delivery threads. */
  DELIVERY_THREADS(
      "delivery.threads",
      "2",
      ValueType.count(1, 64),
      "Controls the number of threads that verify blocks and deliver them to tasks. Other threads, "
          + "up to four for each local directory, write blocks to disk. More threads verify more bytes per second and use more CPU time beside the "
          + "tasks. Raise it on executors with many cores when tasks wait for blocks that have "
          + "arrived."),
  /** Whether checksums are verified. */
  VERIFY(
      "verify",
      "true",
      ValueType.flag(),
      "Controls whether blocks read by RDMA are verified with the checksums that Spark wrote "
          + "(`spark.shuffle.checksum.*`). With `false` readers save CPU time and corruption is "
          + "found only by decompression or deserialization. Set it to `false` only to measure."),
  /** Busy polling. */
  SPIN_TIMEOUT(
      "spin.timeout",
      "20us",
      ValueType.duration(Duration.ZERO, Duration.ofSeconds(1)),
      "Controls how long the transport's thread polls before it sleeps. A longer time reduces "
          + "latency and uses CPU time while nothing arrives. Raise it when cores are free and "
          + "blocks are small."),
  /** Plain text on the fabric allowed. */
  FABRIC_TRUSTED(
      "fabric.trusted",
      "false",
      ValueType.flag(),
      "Controls whether RDMA is used although other hosts of the fabric could read blocks: where "
          + "Spark's network is encrypted (`spark.network.crypto.enabled`, `spark.ssl.rpc.enabled` "
          + "or encryption by SASL) and `spark.io.encryption.enabled` is not, and on devices that "
          + "cannot withhold remote access until a peer is proven (iWARP, RoCE with the drivers irdma, "
          + "erdma, bnxt_re, ocrdma and mana, and all with engine `disni`). With `true` blocks "
          + "cross the fabric as they are stored; with `false` RDMA is off in both cases. Set it to "
          + "`true` when only trusted hosts can reach the fabric.");

  /** Every key begins with it. */
  public static final String PREFIX = "spark.shuffle.rdma.";

  private final String name;
  private final String defaultText;

  // Its parser is a function without state.
  @SuppressWarnings("ImmutableEnumChecker")
  private final ValueType type;

  private final String meaning;

  ShuffleSetting(String name, String defaultText, ValueType type, String meaning) {
    this.name = name;
    this.defaultText = defaultText;
    this.type = type;
    this.meaning = meaning;
  }

  /** The whole key. */
  public String key() {
    return PREFIX + name;
  }

  /** Value when it is not set, as a user would write it. */
  public String defaultText() {
    return defaultText;
  }

  /** Allowed values, as text. */
  public String allowed() {
    return type.allowed();
  }

  /** Description, in Markdown. */
  public String meaning() {
    return meaning;
  }

  Object parse(String text) {
    try {
      return type.parser().apply(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "bad setting: key=" + key() + " value=" + text + " allowed=" + allowed(), e);
    }
  }
}
