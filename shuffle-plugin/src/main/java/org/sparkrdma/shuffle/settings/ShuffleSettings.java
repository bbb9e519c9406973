// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * The plug-in's settings of one application, validated as a whole. A mistake ends the application
 * on the driver ({@code DriverSide}) and turns RDMA off in an executor ({@code ExecutorSide}); a
 * former key is a note, which the driver logs. Immutable.
 */
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

  /** Length of the chunks into which receive memory and that of copies are cut. */
  private static final int CHUNK_BYTES = 256 << 10;

  /** Length of the windows in which map-output files are registered. */
  private static final int WINDOW_BYTES = 16 << 20;

  private static final int MAX_PEER_LEASES = 1_024;

  /** With a factor of 1: one peer may cost as much. */
  private static final Duration LOOKUP_WAIT = Duration.ofMillis(500);

  /** A lease lasts longer than the request for which it is given, by at least this time. */
  private static final Duration LEASE_MARGIN = Duration.ofSeconds(2);

  /**
   * The value of every setting, set or default; {@value ValueType#DERIVED} is empty where that is
   * allowed. The caller knows the type of each.
   */
  private final Map<ShuffleSetting, Object> values = new EnumMap<>(ShuffleSetting.class);

  private final EngineSettings engineSettings;
  private final List<String> notes = new ArrayList<>();
  private final List<String> mistakes = new ArrayList<>();

  /** Keys of an engine are passed to it without the prefix, such as {@code soft.latency}. */
  private ShuffleSettings(Map<String, String> spark, List<VerbsProvider> providers) {
    Map<String, String> left = new TreeMap<>(spark);
    left.keySet().removeIf(key -> !key.startsWith(ShuffleSetting.PREFIX));
    for (ShuffleSetting setting : ShuffleSetting.values()) {
      String text = left.remove(setting.key());
      values.put(setting, setting.parse(setting.defaultText()));
      try {
        values.put(setting, setting.parse(text == null ? setting.defaultText() : text));
      } catch (IllegalArgumentException e) {
        mistakes.add(e.getMessage());
      }
    }
    List<String> engines = new ArrayList<>(List.of(ValueType.DERIVED));
    Set<String> keysOfEngines = new TreeSet<>();
    for (VerbsProvider engine : providers) {
      engines.add(engine.name());
      for (EngineSetting one : engine.settings()) {
        keysOfEngines.add(one.key());
      }
    }
    if (!engines.contains(engine())) {
      mistakes.add(
          ("bad setting: key=" + ShuffleSetting.ENGINE.key() + " value=" + engine())
              + (" allowed=" + String.join(", ", engines)));
      values.put(ShuffleSetting.ENGINE, ValueType.DERIVED);
    }
    Map<String, String> ofEngines = new TreeMap<>();
    for (Map.Entry<String, String> setting : left.entrySet()) {
      String name = setting.getKey().substring(ShuffleSetting.PREFIX.length());
      if (keysOfEngines.contains(name)) {
        ofEngines.put(name, setting.getValue().trim());
      } else if (FormerSettings.replacement(name) != null) {
        notes.add(setting.getKey() + " has no effect: " + FormerSettings.replacement(name));
      } else {
        // Without its value, which may be a secret.
        mistakes.add("unknown setting: key=" + setting.getKey() + " allowed=docs/configuration.md");
      }
    }
    try {
      providers.forEach(provider -> provider.validate(EngineSettings.of(ofEngines)));
    } catch (IllegalArgumentException e) {
      mistakes.add("bad setting: engine reports: " + e.getMessage());
      ofEngines.clear();
    }
    engineSettings = EngineSettings.of(ofEngines);
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
    ShuffleSettings settings = new ShuffleSettings(spark, providers);
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
    return new ShuffleSettings(spark, Verbs.providers());
  }

  private String text(ShuffleSetting setting) {
    return (String) values.get(setting);
  }

  private Optional<String> textOrDerived(ShuffleSetting setting) {
    String text = text(setting);
    return text.equals(ValueType.DERIVED) ? Optional.empty() : Optional.of(text);
  }

  private int number(ShuffleSetting setting) {
    return (Integer) values.get(setting);
  }

  private boolean flag(ShuffleSetting setting) {
    return (Boolean) values.get(setting);
  }

  private Duration duration(ShuffleSetting setting) {
    return (Duration) values.get(setting);
  }

  private OptionalInt numberOrDerived(ShuffleSetting setting) {
    Optional<?> value = (Optional<?>) values.get(setting);
    return value.isPresent() ? OptionalInt.of((Integer) value.get()) : OptionalInt.empty();
  }

  private Optional<Long> bytesOrDerived(ShuffleSetting setting) {
    Optional<?> value = (Optional<?>) values.get(setting);
    return value.isPresent() ? Optional.of((Long) value.get()) : Optional.empty();
  }

  /** Whether RDMA is used. */
  public Mode mode() {
    return Mode.valueOf(text(ShuffleSetting.MODE).toUpperCase(Locale.ROOT));
  }

  /** Whether executors check their machine at the start. */
  public boolean doctor() {
    return flag(ShuffleSetting.DOCTOR);
  }

  /** Name of the engine, or {@code auto}. */
  public String engine() {
    return text(ShuffleSetting.ENGINE);
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
        textOrDerived(ShuffleSetting.DEVICE).map(ShuffleSettings::names).orElse(List.of()),
        numberOrDerived(ShuffleSetting.GID_INDEX),
        textOrDerived(ShuffleSetting.LISTEN_ADDRESS),
        sparkHost,
        flag(ShuffleSetting.RAILS_ROUTED),
        flag(ShuffleSetting.FABRIC_TRUSTED),
        spread);
  }

  private static List<String> names(String text) {
    return Stream.of(text.split(",")).map(String::trim).filter(name -> !name.isEmpty()).toList();
  }

  /** Maximum of pinned bytes; empty to be derived from the machine. */
  public Optional<Long> pinnedMaxBytes() {
    return bytesOrDerived(ShuffleSetting.PINNED_MAX);
  }

  /** Whether blocks may be readable on the fabric although Spark's network is encrypted. */
  public boolean trustedFabric() {
    return flag(ShuffleSetting.FABRIC_TRUSTED);
  }

  /** Longest time that a call of the driver's directory may take. */
  public Duration lookupTimeout() {
    return duration(ShuffleSetting.CONNECT_TIMEOUT);
  }

  /** Longest time that blocks wait for a look-up instead of using TCP. */
  public Duration lookupWait() {
    Duration wait = LOOKUP_WAIT.multipliedBy(number(ShuffleSetting.WAITS_FACTOR));
    return Collections.min(List.of(lookupTimeout(), wait));
  }

  /**
   * A sentence for each wrong or unknown key, naming the key, a wrong value, and what is allowed;
   * none in the settings of an application that has started.
   */
  public List<String> mistakes() {
    return List.copyOf(mistakes);
  }

  /** Messages to log once, about keys without effect. */
  public List<String> notes() {
    return List.copyOf(notes);
  }

  /** The transport's part. */
  public TransportSettings transport() {
    PacketSettings packets =
        PacketSettings.of(
            numberOrDerived(ShuffleSetting.TOS), duration(ShuffleSetting.ACK_TIMEOUT), ACK_RETRIES);
    return new TransportSettings(
        bytesOrDerived(ShuffleSetting.READS_BYTES_MAX).orElse(TransportSettings.DEFAULT_READ_BYTES),
        CHUNK_BYTES,
        bytesOrDerived(ShuffleSetting.POOL_MAX),
        duration(ShuffleSetting.CONNECT_TIMEOUT),
        duration(ShuffleSetting.REQUEST_TIMEOUT),
        duration(ShuffleSetting.IDLE_TIMEOUT),
        number(ShuffleSetting.WAITS_FACTOR),
        number(ShuffleSetting.CONNECTIONS_MAX),
        MAX_ATTEMPTS,
        packets,
        flag(ShuffleSetting.RELAXED_ORDERING),
        number(ShuffleSetting.LISTEN_PORT),
        trustedFabric());
  }

  /** Whether blocks are verified with their checksums. */
  public boolean verify() {
    return flag(ShuffleSetting.VERIFY);
  }

  /** The way of broadcast variables: {@code off}, {@code auto} or {@code tcp}. */
  public String broadcastMode() {
    return text(ShuffleSetting.BROADCAST_MODE);
  }

  /** The serving side's part. */
  public ServeSettings serve() {
    Duration request = duration(ShuffleSetting.REQUEST_TIMEOUT);
    Duration lease = request.multipliedBy(3);
    return new ServeSettings(
        ServeSettings.Mode.valueOf(text(ShuffleSetting.SERVE).toUpperCase(Locale.ROOT)),
        WINDOW_BYTES,
        CHUNK_BYTES,
        lease.compareTo(request.plus(LEASE_MARGIN)) > 0 ? lease : request.plus(LEASE_MARGIN),
        MAX_PEER_LEASES,
        number(ShuffleSetting.INDEX_MAX),
        duration(ShuffleSetting.IDLE_TIMEOUT),
        flag(ShuffleSetting.VERIFY));
  }
}
