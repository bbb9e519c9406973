// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.device.GidType;
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

  /** Length of a copy slot. */
  static final int COPY_SLOT_BYTES = 1 << 20;

  private static final int COPY_SLOTS = 32;
  private static final int MAX_INDEXES = 4_096;
  private static final int MAX_PEER_LEASES = 1_024;

  private final SettingValues values;
  private final EngineSettings engineSettings;
  private final List<String> notes;

  private ShuffleSettings(SettingValues values, EngineSettings engineSettings, List<String> notes) {
    this.values = values;
    this.engineSettings = engineSettings;
    this.notes = List.copyOf(notes);
  }

  /** Nothing set. */
  public static ShuffleSettings defaults() {
    return of(Map.of(), List.of());
  }

  /**
   * Reads and checks what the user set, with the engines that are on the class path.
   *
   * @throws IllegalArgumentException naming key, value, what is allowed and the nearest known key
   */
  public static ShuffleSettings of(SparkConf conf) {
    return of(texts(conf));
  }

  /** All settings of Spark. */
  static Map<String, String> texts(SparkConf conf) {
    Map<String, String> texts = new TreeMap<>();
    for (var entry : conf.getAll()) {
      texts.put(entry._1(), entry._2());
    }
    return texts;
  }

  /**
   * As {@link #of(SparkConf)}.
   *
   * @param spark Spark's settings; those of others are ignored
   */
  public static ShuffleSettings of(Map<String, String> spark) {
    Map<String, String> texts = new TreeMap<>(spark);
    texts.keySet().removeIf(key -> !key.startsWith(ShuffleSetting.PREFIX));
    return of(texts, Verbs.providers());
  }

  /** Same as {@link #of(SparkConf)}, for keys that all have the prefix of this plug-in. */
  static ShuffleSettings of(Map<String, String> texts, List<VerbsProvider> providers) {
    EngineKeys engines = new EngineKeys(providers);
    Map<String, String> left = new TreeMap<>(texts);
    SettingValues values = SettingValues.takeFrom(left);
    Map<String, String> ofEngines = new TreeMap<>();
    List<String> notes = new ArrayList<>();
    left.forEach(
        (key, text) -> {
          String name = key.substring(ShuffleSetting.PREFIX.length());
          String note = FormerSettings.note(key);
          if (engines.takes(name)) {
            ofEngines.put(name, text);
          } else if (note != null) {
            notes.add(note);
          } else {
            throw UnknownSetting.exception(key, text, engines.names());
          }
        });
    var settings = new ShuffleSettings(values, engines.validated(ofEngines), notes);
    engines.requireEngine(settings.engine());
    SettingRules.check(values);
    return settings;
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
        values.numberOrDerived(ShuffleSetting.DEVICE_PORT),
        values.numberOrDerived(ShuffleSetting.GID_INDEX),
        values
            .textOrDerived(ShuffleSetting.GID_TYPE)
            .map(text -> GidType.valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'))),
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
    // The driver cannot know a derived limit; it refuses longer chunks only with a limit that is
    // set.
    long maxChunkBytes = Long.highestOneBit(pinnedMaxBytes / 4);
    int chunkBytes = (int) Math.min(values.bytes(ShuffleSetting.CHUNK_SIZE), maxChunkBytes);
    return new TransportSettings(
        values
            .bytesOrDerived(ShuffleSetting.READS_BYTES_MAX)
            .orElseGet(() -> TransportSettings.readBytesInFlight(chunkBytes)),
        chunkBytes,
        values.bytesOrDerived(ShuffleSetting.POOL_MAX).orElse(pinnedMaxBytes / 2),
        values.duration(ShuffleSetting.CONNECT_TIMEOUT),
        values.duration(ShuffleSetting.REQUEST_TIMEOUT),
        values.duration(ShuffleSetting.IDLE_TIMEOUT),
        values.duration(ShuffleSetting.QUARANTINE_MIN),
        values.duration(ShuffleSetting.QUARANTINE_MAX),
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
    return new ServeSettings(
        ServeSettings.Mode.valueOf(values.text(ShuffleSetting.SERVE).toUpperCase(Locale.ROOT)),
        (int) values.bytes(ShuffleSetting.WINDOW_SIZE),
        COPY_SLOT_BYTES,
        COPY_SLOTS,
        values.duration(ShuffleSetting.LEASE_TIMEOUT),
        MAX_INDEXES,
        MAX_PEER_LEASES,
        values.duration(ShuffleSetting.IDLE_TIMEOUT),
        values.flag(ShuffleSetting.VERIFY));
  }
}
