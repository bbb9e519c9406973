/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.settings;

import java.time.Duration;

/** Every key of the plug-in, without the engines' own: name, default, what is allowed, meaning. */
public enum ShuffleSetting {
  /** Whether RDMA is used. */
  MODE(
      "mode",
      "auto",
      ValueType.choice("auto", "required", "off"),
      "`auto` uses RDMA where it can and says once in a WARN why where it cannot; `required` fails"
          + " tasks in an executor that has no RDMA; `off` is plain Spark."),
  /** Which verbs engine. */
  ENGINE(
      "engine",
      "auto",
      ValueType.choice("auto", "ibverbs", "disni", "soft"),
      "The verbs engine. `auto` takes the first that finds a device, never `soft`, which is a"
          + " loopback device for tests and demos on one host."),
  /** Which devices. */
  DEVICE(
      "device",
      "auto",
      ValueType.text("auto, or names of devices with commas between them"),
      "The RDMA device, as in `mlx5_0`; several are spread over the executors of a host. `auto`"
          + " takes one with an active port whose address peers can reach: Spark's own address"
          + " first, else devices that are equally good are spread over the executors. What was"
          + " chosen is logged with the reason."),
  /** Which of its ports. */
  PORT(
      "port",
      ValueType.DERIVED,
      ValueType.count(1, 255).orDerived(),
      "Port of the device, as `ibv_devinfo` counts them; not a port number of TCP, for that see"
          + " `listen.port`."),
  /** Which entry of the GID table. */
  GID(
      "gid",
      ValueType.DERIVED,
      ValueType.count(0, 65_535).orDerived(),
      "Index of the GID whose address is used, as `ibv_devinfo -v` lists them."),
  /** Which kind of GID. */
  GID_TYPE(
      "gid.type",
      "auto",
      ValueType.choice("auto", "infiniband", "roce-v1", "roce-v2", "iwarp"),
      "Only addresses with a GID of this kind. Which of RoCE v1 and v2 a connection then takes is the"
          + " kernel's setting (`default_roce_mode` of `rdma_cm` in configfs)."),
  /** Where to listen. */
  ADDRESS(
      "address",
      "auto",
      ValueType.text("auto, a literal address, an interface's name or a network as in 10.1.0.0/16"),
      "Where this executor takes RDMA connections; apart from Spark's own addresses. `auto` takes"
          + " the address of Spark's block manager where the device has it."),
  /** Port to listen on. */
  LISTEN_PORT(
      "listen.port",
      "0",
      ValueType.count(0, 65_535),
      "Port of the RDMA listener; 0 takes a free one. Executors that share a host need 0."),
  /** The one account of pinned memory. */
  PINNED_MAX(
      "pinned.max",
      ValueType.DERIVED,
      ValueType.bytes(1L << 20, 1L << 44).orDerived(),
      "Most memory that this executor pins, for everything together. `auto` is the least of this"
          + " executor's part of a quarter of the host's memory (an eighth at most), half of what the"
          + " container's limit leaves beside heap and off-heap memory, half of"
          + " `spark.executor.memoryOverhead` on YARN and Kubernetes, and, on hardware,"
          + " RLIMIT_MEMLOCK unless CAP_IPC_LOCK lifts it; the derivation is logged once. A value of"
          + " yours is taken, with a warning when it is more than that machine or container allow."),
  /** Ways of serving. */
  SERVE(
      "serve",
      "auto",
      ValueType.choice("auto", "window", "copy", "odp"),
      "How blocks are served: `window` registers map-output files in windows, `copy` copies blocks"
          + " into registered slots, `auto` copies out of a window until that has cost as much as registering it would"
          + " (docs/benchmarks.md), registers it then, and copies when it cannot be had."
          + " `odp` registers windows that are not pinned, where the device pages on demand (else as"
          + " `auto`, with a warning): what is read costs the device a page fault each time that it"
          + " is not in memory. Not yet tried on a real device."),
  /** Copying before registering. */
  COPY_FIRST(
      "copy.first",
      "true",
      ValueType.flag(),
      "Whether `serve=auto` copies out of a window first; without it each window is registered at"
          + " the first question."),
  /** Length of a window. */
  WINDOW(
      "window",
      "16m",
      ValueType.powerOfTwoBytes(1L << 16, 1L << 30),
      "Length of the windows in which map-output files are registered."),
  /** Length of a copy slot. */
  COPY_SLOT(
      "copy.slot",
      "1m",
      ValueType.powerOfTwoBytes(1L << 12, 1L << 28),
      "Length of a slot of the copy pool."),
  /** Number of copy slots. */
  COPY_SLOTS(
      "copy.slots",
      "32",
      ValueType.count(0, 65_536),
      "Most slots of the copy pool; 0 turns copying off."),
  /** Time of a lease. */
  LEASE(
      "lease",
      "120s",
      ValueType.duration(Duration.ofSeconds(1), Duration.ofHours(1)),
      "How long a reader may READ what was located for it; must be longer than"
          + " `request.timeout`."),
  /** Parsed index files. */
  INDEX_CACHE(
      "indexCache",
      "4096",
      ValueType.count(1, 1_000_000),
      "Most map outputs whose index and checksums are kept parsed."),
  /** Leases of one peer. */
  PEER_LEASES(
      "peer.leases",
      "1024",
      ValueType.count(1, 1_000_000),
      "Most leases that one peer holds of this executor; who has them all is told that there is no"
          + " room."),
  /** Memory leased by one peer. */
  PEER_SHARE(
      "peer.share",
      "50",
      ValueType.count(1, 100),
      "Most of `pinned.max`, and of the copy slots, that leases of one peer hold, in percent;"
          + " beyond that it is told that there is no room. It may always hold one window and one"
          + " slot."),
  /** Length of control messages. */
  MESSAGE(
      "message",
      "16k",
      ValueType.bytes(512, 1L << 20),
      "Length of a control message's buffer; every connection pins a few."),
  /** LOCATEs open. */
  LOCATES_IN_FLIGHT(
      "locatesInFlight",
      "4",
      ValueType.count(1, 256),
      "LOCATE messages that one connection may have open."),
  /** READs posted. */
  READS_IN_FLIGHT(
      "readsInFlight",
      "64",
      ValueType.count(1, 16_384),
      "READs that one connection may have posted."),
  /** Length of a pool chunk. */
  CHUNK(
      "chunk",
      "256k",
      ValueType.powerOfTwoBytes(1L << 12, 1L << 28),
      "Length of the pieces that receive memory is cut into; the smallest that a request takes."),
  /** Receive memory. */
  POOL_MAX(
      "pool.max",
      ValueType.DERIVED,
      ValueType.bytes(1L << 16, 1L << 44).orDerived(),
      "Most receive memory, within `pinned.max`; `auto` is half of that. When it is used up blocks"
          + " go by TCP."),
  /** Until a connection is made. */
  CONNECT_TIMEOUT(
      "connect.timeout",
      "5s",
      ValueType.duration(Duration.ofMillis(10), Duration.ofMinutes(10)),
      "Until a connection, with its proof of identity, is made; also how long a look-up of a peer"
          + " may take."),
  /** Until a request is answered. */
  REQUEST_TIMEOUT(
      "request.timeout",
      "30s",
      ValueType.duration(Duration.ofMillis(10), Duration.ofMinutes(30)),
      "From sending a LOCATE, or posting READs, to their end."),
  /** Until a silent peer counts as dead. */
  PEER_TIMEOUT(
      "peer.timeout",
      "4s",
      ValueType.duration(Duration.ofMillis(100), Duration.ofMinutes(30)),
      "How long a peer's device may be silent, while something of it is awaited, before the peer"
          + " counts as dead. A process that is stopped or pauses is not: its device answers."),
  /** Until an idle connection is closed. */
  IDLE_TIMEOUT(
      "idle.timeout",
      "60s",
      ValueType.duration(Duration.ofMillis(100), Duration.ofDays(1)),
      "Until a connection that nobody uses is closed, and registered memory that nobody uses is"
          + " given back."),
  /** First quarantine. */
  QUARANTINE(
      "quarantine",
      "1s",
      ValueType.duration(Duration.ofMillis(1), Duration.ofHours(1)),
      "How long a peer is first left alone after a failure; doubles each time."),
  /** Longest quarantine. */
  QUARANTINE_MAX(
      "quarantine.max",
      "60s",
      ValueType.duration(Duration.ofMillis(1), Duration.ofDays(1)),
      "The longest that a peer is left alone; at least `quarantine`."),
  /** Connections at once. */
  MAX_CONNECTIONS(
      "maxConnections",
      "1024",
      ValueType.count(1, 65_536),
      "Most connections at once; the oldest idle one makes room for a new one."),
  /** Delivery threads. */
  DELIVERY_THREADS(
      "deliveryThreads",
      "2",
      ValueType.count(1, 64),
      "Threads that verify blocks, write them to disk and hand them to tasks."),
  /** Whether sums are checked. */
  VERIFY(
      "verify",
      "true",
      ValueType.flag(),
      "Whether blocks read by RDMA are checked against the checksums that Spark wrote"
          + " (`spark.shuffle.checksum.*`)."),
  /** Busy polling. */
  SPIN(
      "spin",
      "20us",
      ValueType.duration(Duration.ZERO, Duration.ofSeconds(1)),
      "How long the transport's thread polls before it sleeps."),
  /** Plain text on the fabric allowed. */
  TRUSTED_FABRIC(
      "fabric.trusted",
      "false",
      ValueType.flag(),
      "RDMA carries blocks as they are stored. With `spark.network.crypto.enabled`,"
          + " `spark.ssl.rpc.enabled` or encryption by SASL it is therefore off, unless"
          + " `spark.io.encryption.enabled` encrypts the blocks themselves, or this says that the"
          + " fabric is trusted.");

  /** In front of every key. */
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

  /** What is allowed, in words. */
  public String allowed() {
    return type.allowed();
  }

  /** What it does, in Markdown. */
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
