// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.VerbsProvider;

/** The plug-in's settings of one application, validated as a whole. Immutable. */
public final class ShuffleSettings {
  /** Whether RDMA is used. */
  public enum Mode {
    /** Used wherever it can be. */
    AUTO,
    /** Tasks fail without it. */
    REQUIRED,
    /** Never. */
    OFF
  }

  /** Repetitions of a packet by a device; some repeat without end with 7. */
  private static final int ACK_RETRIES = 6;

  private static final int MAX_ATTEMPTS = 32;

  /** Length of the chunks into which receive memory is cut. */
  private static final int CHUNK_BYTES = 256 << 10;

  /** Length of the windows in which map-output files are registered. */
  private static final int WINDOW_BYTES = 16 << 20;

  /** Length of a copy slot. */
  private static final int COPY_SLOT_BYTES = 1 << 20;

  private static final int COPY_SLOTS = 32;
  private static final int MAX_INDEXES = 4_096;
  private static final int MAX_PEER_LEASES = 1_024;

  /** First quarantine of a peer. */
  private static final Duration QUARANTINE = Duration.ofSeconds(1);

  /** A lease lasts longer than the request for which it is given, by at least this time. */
  private static final Duration LEASE_MARGIN = Duration.ofSeconds(2);

  private final SettingValues values;
  private final EngineSettings engineSettings;
  private final List<String> notes;
  private final List<String> mistakes;

  private ShuffleSettings(
      SettingValues values,
      EngineSettings engineSettings,
      List<String> notes,
      List<String> mistakes) {
    this.values = values;
    this.engineSettings = engineSettings;
    this.notes = List.copyOf(notes);
    this.mistakes = List.copyOf(mistakes);
  }

  /** Nothing set. */
  public static ShuffleSettings defaults() {
    return of(Map.of(), List.of());
  }

  /**
   * Reads and checks what the user set, with the engines that are on the class path.
   *
   * @throws IllegalArgumentException with all {@link #mistakes()}
   */
  public static ShuffleSettings of(SparkConf conf) {
    Map<String, String> texts = new TreeMap<>();
    for (var entry : conf.getAll()) {
      texts.put(entry._1(), entry._2());
    }
    return of(texts);
  }

  /**
   * As {@link #of(SparkConf)}.
   *
   * @param spark Spark's settings; those of others are ignored
   */
  public static ShuffleSettings of(Map<String, String> spark) {
    return of(spark, Verbs.providers());
  }

  static ShuffleSettings of(Map<String, String> spark, List<VerbsProvider> providers) {
    ShuffleSettings settings = read(spark, providers);
    if (!settings.mistakes.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", settings.mistakes));
    }
    return settings;
  }

  /**
   * The same with the default in place of each wrong value; see {@link #mistakes()}.
   *
   * @param spark Spark's settings; those of others are ignored
   */
  public static ShuffleSettings read(Map<String, String> spark) {
    return read(spark, Verbs.providers());
  }

  /** Keys of an engine are passed to it without the prefix, such as {@code soft.latency}. */
  private static ShuffleSettings read(Map<String, String> spark, List<VerbsProvider> providers) {
    Map<String, String> left = new TreeMap<>(spark);
    left.keySet().removeIf(key -> !key.startsWith(ShuffleSetting.PREFIX));
    List<String> mistakes = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    SettingValues values = SettingValues.takeFrom(left, mistakes);
    List<String> engines = new ArrayList<>(List.of(ValueType.DERIVED));
    Set<String> keysOfEngines = new TreeSet<>();
    for (VerbsProvider engine : providers) {
      engines.add(engine.name());
      for (EngineSetting one : engine.settings()) {
        keysOfEngines.add(one.key());
      }
    }
    requireEngine(values.text(ShuffleSetting.ENGINE), engines, mistakes);
    Map<String, String> ofEngines = new TreeMap<>();
    for (Map.Entry<String, String> setting : left.entrySet()) {
      String name = setting.getKey().substring(ShuffleSetting.PREFIX.length());
      if (keysOfEngines.contains(name)) {
        ofEngines.put(name, setting.getValue());
      } else if (FormerSettings.replacement(name) != null) {
        notes.add(setting.getKey() + " has no effect: " + FormerSettings.replacement(name));
      } else {
        mistakes.add(
            ("unknown setting: key=" + setting.getKey() + " value=" + setting.getValue())
                + " allowed=the keys of docs/configuration.md");
      }
    }
    if (values.text(ShuffleSetting.SERVE).equals("copy")
        && values.bytesOrDerived(ShuffleSetting.PINNED_MAX).orElse(Long.MAX_VALUE)
            < 4L * COPY_SLOT_BYTES) {
      String key = ShuffleSetting.PINNED_MAX.key();
      mistakes.add(
          ("bad setting: key=" + key + " value=" + spark.get(key))
              + (" allowed=at least 4m with " + ShuffleSetting.SERVE.key() + "=copy"));
    }
    try {
      providers.forEach(provider -> provider.validate(EngineSettings.of(ofEngines)));
    } catch (IllegalArgumentException e) {
      mistakes.add("bad setting: engine reports: " + e.getMessage());
      ofEngines.clear();
    }
    return new ShuffleSettings(values, EngineSettings.of(ofEngines), notes, mistakes);
  }

  private static void requireEngine(String name, List<String> allowed, List<String> mistakes) {
    if (!allowed.contains(name)) {
      mistakes.add(
          ("bad setting: key=" + ShuffleSetting.ENGINE.key() + " value=" + name)
              + (" allowed=" + String.join(", ", allowed)));
    }
  }

  /** Whether RDMA is used. */
  public Mode mode() {
    return Mode.valueOf(values.text(ShuffleSetting.MODE).toUpperCase(Locale.ROOT));
  }

  /** Whether executors check their machine at the start. */
  public boolean doctor() {
    return values.flag(ShuffleSetting.DOCTOR);
  }

  /** Name of the engine, or {@code auto}. */
  public String engine() {
    return values.text(ShuffleSetting.ENGINE);
  }

  /** The settings of the engines. */
  public EngineSettings engineSettings() {
    return engineSettings;
  }

  /**
   * Which device and address an executor asks for.
   *
   * @param sparkHost where Spark's own block transfer listens
   * @param spread differs between the executors of a host
   */
  public DeviceSelector device(InetAddress sparkHost, int spread) {
    return new DeviceSelector(
        values.textOrDerived(ShuffleSetting.DEVICE).map(ShuffleSettings::names).orElse(List.of()),
        values.numberOrDerived(ShuffleSetting.GID_INDEX),
        values.textOrDerived(ShuffleSetting.LISTEN_ADDRESS),
        sparkHost,
        values.flag(ShuffleSetting.RAILS_ROUTED),
        values.flag(ShuffleSetting.FABRIC_TRUSTED),
        spread);
  }

  private static List<String> names(String text) {
    return Stream.of(text.split(",")).map(String::trim).filter(name -> !name.isEmpty()).toList();
  }

  /** Port to listen on; 0 for any. */
  public int listenPort() {
    return values.number(ShuffleSetting.LISTEN_PORT);
  }

  /** Maximum of pinned bytes; empty to be derived from the machine. */
  public Optional<Long> pinnedMaxBytes() {
    return values.bytesOrDerived(ShuffleSetting.PINNED_MAX);
  }

  /** Whether blocks may be readable on the fabric although Spark's network is encrypted. */
  public boolean trustedFabric() {
    return values.flag(ShuffleSetting.FABRIC_TRUSTED);
  }

  /** Longest time that a look-up of a peer may take. */
  public Duration lookupTimeout() {
    return values.duration(ShuffleSetting.CONNECT_TIMEOUT);
  }

  /**
   * A sentence for each wrong or unknown key, naming key, value and what is allowed; none in the
   * settings of an application that has started.
   */
  public List<String> mistakes() {
    return mistakes;
  }

  /** Messages to log once, about keys without effect. */
  public List<String> notes() {
    return notes;
  }

  /**
   * The transport's part.
   *
   * @param pinnedMaxBytes maximum of pinned bytes, set or derived
   */
  public TransportSettings transport(long pinnedMaxBytes) {
    PacketSettings packets =
        PacketSettings.of(
            values.numberOrDerived(ShuffleSetting.TOS),
            values.duration(ShuffleSetting.ACK_TIMEOUT),
            ACK_RETRIES);
    long poolBytes =
        Math.min(
            pinnedMaxBytes,
            values.bytesOrDerived(ShuffleSetting.POOL_MAX).orElse(pinnedMaxBytes / 2));
    long readBytes =
        values
            .bytesOrDerived(ShuffleSetting.READS_BYTES_MAX)
            .orElse(TransportSettings.DEFAULT_READ_BYTES);
    // At least four chunks in all, and two in the pool and in flight.
    long maxChunkBytes = Math.min(pinnedMaxBytes / 4, Math.min(poolBytes, readBytes) / 2);
    Duration maxQuarantine = values.duration(ShuffleSetting.QUARANTINE_MAX);
    Duration quarantine = maxQuarantine.dividedBy(2);
    return new TransportSettings(
        readBytes,
        (int) Math.min(CHUNK_BYTES, Long.highestOneBit(maxChunkBytes)),
        poolBytes,
        values.duration(ShuffleSetting.CONNECT_TIMEOUT),
        values.duration(ShuffleSetting.REQUEST_TIMEOUT),
        values.duration(ShuffleSetting.IDLE_TIMEOUT),
        quarantine.compareTo(QUARANTINE) < 0 ? quarantine : QUARANTINE,
        maxQuarantine,
        values.number(ShuffleSetting.CONNECTIONS_MAX),
        MAX_ATTEMPTS,
        packets,
        values.flag(ShuffleSetting.RELAXED_ORDERING));
  }

  /** Whether blocks are verified with their checksums. */
  public boolean verify() {
    return values.flag(ShuffleSetting.VERIFY);
  }

  /** The serving side's part. */
  public ServeSettings serve() {
    Duration request = values.duration(ShuffleSetting.REQUEST_TIMEOUT);
    Duration lease = request.multipliedBy(3);
    return new ServeSettings(
        ServeSettings.Mode.valueOf(values.text(ShuffleSetting.SERVE).toUpperCase(Locale.ROOT)),
        WINDOW_BYTES,
        COPY_SLOT_BYTES,
        COPY_SLOTS,
        lease.compareTo(request.plus(LEASE_MARGIN)) > 0 ? lease : request.plus(LEASE_MARGIN),
        MAX_INDEXES,
        MAX_PEER_LEASES,
        values.duration(ShuffleSetting.IDLE_TIMEOUT),
        values.flag(ShuffleSetting.VERIFY));
  }
}
