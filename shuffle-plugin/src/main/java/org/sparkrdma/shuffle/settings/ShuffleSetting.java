// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

/**
 * Every key of the plug-in, without the engines' own: whom it is for, name, default, allowed
 * values, meaning.
 *
 * <p>Names: lower-case words separated by dots, the subject first and the quantity last. {@code
 * .max} and {@code .min} are limits, {@code .size} is a length in bytes, {@code .timeout} a
 * duration after which something ends, {@code .threads} a number of threads. A key that chooses
 * between ways of working is one word. Engines name their keys by the same rules.
 *
 * <p>Meanings: the first sentence says what the key controls, the last one when to change it.
 */
public enum ShuffleSetting {
  /** Whether RDMA is used. */
  MODE(
      Scope.PUBLIC,
      "mode",
      "auto",
      ValueType.choice("auto", "required", "off"),
      "Controls whether blocks are fetched over RDMA: `auto` where possible, `required`, or "
          + "`off`. Use `off` to rule out RDMA as a cause, `required` to fail without RDMA."),
  /** Whether executors check their machine. */
  DOCTOR(
      Scope.PUBLIC,
      "doctor",
      "false",
      ValueType.flag(),
      "Controls whether each executor checks its host when it starts and reports to the driver's "
          + "log. Turn it on for the first application on a cluster."),
  /** Which verbs engine. */
  ENGINE(
      Scope.PUBLIC,
      "engine",
      "auto",
      ValueType.text("auto, or an engine's name"),
      "Controls which verbs engine is used: `ibverbs`, `disni` or `soft`; `auto` means `ibverbs`. "
          + "Choose `disni` to use DiSNI, `soft` to test on one host without a card."),
  /** Which devices. */
  DEVICE(
      Scope.PUBLIC,
      "device",
      "auto",
      ValueType.text("auto, or device names separated by commas"),
      "Controls which RDMA devices may be used, as names separated by commas. Set it when a host "
          + "has cards that must not carry shuffle traffic."),
  /** Whether a router joins the subnets of a host's devices. */
  RAILS_ROUTED(
      Scope.PUBLIC,
      "rails.routed",
      "false",
      ValueType.flag(),
      "Controls whether executors of a host are spread over cards in different subnets. Set it to "
          + "`true` only where a router connects these subnets."),
  /** Which entry of the GID table. */
  GID_INDEX(
      Scope.PUBLIC,
      "gid.index",
      ValueType.DERIVED,
      ValueType.count(0, 65_535).orDerived(),
      "Controls which address RDMA uses, by the index of its GID in `ibv_devinfo -v`. "
          + "Set it when `listen.address` cannot select the right address."),
  /** Addresses on which the executor listens. */
  LISTEN_ADDRESS(
      Scope.PUBLIC,
      "listen.address",
      "auto",
      ValueType.text("auto, a literal address, an interface name or a network such as 10.1.0.0/16"),
      "Controls where RDMA listens: an address, an interface, or a network such as 10.1.0.0/16. "
          + "Set a network when a port or host has addresses in several subnets."),
  /** Port to listen on. */
  LISTEN_PORT(
      Scope.PUBLIC,
      "listen.port",
      "0",
      ValueType.count(0, 65_535),
      "Controls the port of the RDMA listener; 0 picks a free one. Set it when a firewall must "
          + "pass iWARP, with one executor per host."),
  /** The one account of pinned memory. */
  PINNED_MAX(
      Scope.PUBLIC,
      "pinned.max",
      ValueType.DERIVED,
      ValueType.bytes("1m", "16t").orDerived(),
      "Controls the most memory that an executor pins, for all uses together. Raise it when many "
          + "blocks fall back with `pool-empty`, or with `peer-busy` where files are not copied."),
  /** Ways of serving. */
  SERVE(
      Scope.PUBLIC,
      "serve",
      "auto",
      ValueType.choice("auto", "window", "copy", "odp"),
      "Controls how blocks are served: `auto`, `window` (register the files), `copy`, or `odp`. "
          + "Set `copy` when registered files cause file system errors."),
  /** Bytes of READs posted. */
  READS_BYTES_MAX(
      Scope.PUBLIC,
      "reads.bytes.max",
      ValueType.DERIVED,
      ValueType.bytes("8k", "16t").orDerived(),
      "Controls how many bytes of READs an executor keeps in flight; `auto` is 32 MiB. Lower it "
          + "when switches report congestion towards readers."),
  /** Order of a device's writes. */
  RELAXED_ORDERING(
      Scope.PUBLIC,
      "relaxed.ordering",
      "false",
      ValueType.flag(),
      "Controls whether the card may write received blocks in any order. Set it to `true` when "
          + "`ib_read_bw` gets slower with `--disable_pcie_relaxed`."),
  /** Indexes that a server keeps. */
  INDEX_MAX(
      Scope.INTERNAL,
      "index.max",
      "2097152",
      ValueType.count(16, 1 << 24),
      "Controls how many partitions of map outputs a server keeps offsets and checksums of, at 16 "
          + "bytes each. Lower it to see in a small job what more outputs than fit cost."),
  /** Receive memory. */
  POOL_MAX(
      Scope.INTERNAL,
      "pool.max",
      ValueType.DERIVED,
      ValueType.bytes("64k", "16t").orDerived(),
      "Controls the maximum receive memory, by default half of `pinned.max`. Raise it on "
          + "executors that read a lot and serve little."),
  /** Maximum time until a connection is established. */
  CONNECT_TIMEOUT(
      Scope.PUBLIC,
      "connect.timeout",
      "5s",
      ValueType.duration("10ms", "10min"),
      "Controls how long a connection may take to be established; blocks use TCP long before. "
          + "Raise it on very busy hosts."),
  /** Maximum time until a request is answered. */
  REQUEST_TIMEOUT(
      Scope.PUBLIC,
      "request.timeout",
      "30s",
      ValueType.duration("10ms", "30min"),
      "Controls how long a request or its READs may take before their connection ends; blocks use "
          + "TCP long before. Raise it when connections end while disks of servers are busy."),
  /** Time after which a packet is repeated. */
  ACK_TIMEOUT(
      Scope.PUBLIC,
      "ack.timeout",
      "500ms",
      ValueType.duration("1ms", "60s"),
      "Controls how long the card waits for an acknowledgement before it retransmits a packet. "
          + "Raise it when connections break under congestion."),
  /** Marking of packets. */
  TOS(
      Scope.PUBLIC,
      "tos",
      ValueType.DERIVED,
      ValueType.count(0, 255).orDerived(),
      "Controls the traffic class of RDMA packets, four times the DSCP; `auto` keeps the host's "
          + "default. Set it to the value your network is configured for."),
  /** Time after which an idle connection is closed. */
  IDLE_TIMEOUT(
      Scope.INTERNAL,
      "idle.timeout",
      "60s",
      ValueType.duration("100ms", "1d"),
      "Controls how long, at least, an unused connection stays open and unused memory stays "
          + "registered. Raise it for interactive sessions with pauses between queries."),
  /** How patiently blocks wait. */
  WAITS_FACTOR(
      Scope.INTERNAL,
      "waits.factor",
      "1",
      ValueType.count(1, 1_000),
      "Controls by which factor blocks may wait longer for memory or peers before they use TCP. "
          + "Raise it for tests on busy or emulated machines."),
  /** Connections at once. */
  CONNECTIONS_MAX(
      Scope.PUBLIC,
      "connections.max",
      "1024",
      ValueType.count(1, 65_536),
      "Controls the maximum number of connections in each direction. Raise it above the number of "
          + "executors of the application."),
  /** Whether checksums are verified. */
  VERIFY(
      Scope.PUBLIC,
      "verify",
      "true",
      ValueType.flag(),
      "Controls whether blocks are verified against Spark's checksums. Set it to `false` only for "
          + "measurements."),
  /** Whether broadcast variables come along a pipeline. */
  BROADCAST_MODE(
      Scope.PUBLIC,
      "broadcast.mode",
      "off",
      ValueType.choice("off", "auto", "tcp"),
      "Controls whether large broadcast variables travel from executor to executor: `auto` with "
          + "READs, `tcp` over Spark's TCP, or `off`. Use `auto` when broadcasts take long, `tcp` "
          + "to compare."),
  /** Plain text on the fabric allowed. */
  FABRIC_TRUSTED(
      Scope.PUBLIC,
      "fabric.trusted",
      "false",
      ValueType.flag(),
      "Controls whether RDMA is used on a network where other hosts could read blocks. Set it to "
          + "`true` only when every host there is trusted.");

  /** Every key begins with it. */
  public static final String PREFIX = "spark.shuffle.rdma.";

  /** Whom a key is for. */
  private enum Scope {
    /** Users: documents describe it. */
    PUBLIC,
    /** Tests and measurements: it may change in any version. */
    INTERNAL
  }

  private final Scope scope;
  private final String name;
  private final String defaultText;

  // Its parser is a function without state.
  @SuppressWarnings("ImmutableEnumChecker")
  private final ValueType type;

  private final String meaning;

  ShuffleSetting(Scope scope, String name, String defaultText, ValueType type, String meaning) {
    this.scope = scope;
    this.name = name;
    this.defaultText = defaultText;
    this.type = type;
    this.meaning = meaning;
  }

  /** Whether documents describe this key; the others may change in any version. */
  public boolean isPublic() {
    return scope == Scope.PUBLIC;
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
