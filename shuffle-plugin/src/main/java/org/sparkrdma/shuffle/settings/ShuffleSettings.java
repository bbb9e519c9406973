// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
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
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.VerbsProvider;

/** The plug-in's settings of one application, validated as a whole. Immutable. */
public final class ShuffleSettings {
  /** Whether RDMA is used. */
  public enum Mode {
    /** Where it can be. */
    AUTO,
    /** Or tasks fail. */
    REQUIRED,
    /** Never. */
    OFF
  }

  private final Map<ShuffleSetting, Object> values;
  private final EngineSettings engineSettings;
  private final List<String> notes;

  private ShuffleSettings(
      Map<ShuffleSetting, Object> values, EngineSettings engineSettings, List<String> notes) {
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
    Map<String, String> texts = new TreeMap<>();
    for (var entry : conf.getAll()) {
      if (entry._1().startsWith(ShuffleSetting.PREFIX)) {
        texts.put(entry._1(), entry._2());
      }
    }
    return of(texts, Verbs.providers());
  }

  /** As {@link #of(SparkConf)}; the keys carry their prefix. */
  static ShuffleSettings of(Map<String, String> texts, List<VerbsProvider> providers) {
    EngineKeys engines = new EngineKeys(providers);
    Map<ShuffleSetting, Object> values = new EnumMap<>(ShuffleSetting.class);
    Map<String, String> left = new TreeMap<>(texts);
    for (ShuffleSetting setting : ShuffleSetting.values()) {
      String text = left.remove(setting.key());
      values.put(setting, setting.parse(text == null ? setting.defaultText() : text));
    }
    Map<String, String> ofEngines = new TreeMap<>();
    List<String> notes = new ArrayList<>();
    left.forEach(
        (key, text) -> {
          String name = key.substring(ShuffleSetting.PREFIX.length());
          String replacement = FormerSettings.replacement(name);
          if (engines.takes(name)) {
            ofEngines.put(name, text);
          } else if (replacement != null) {
            notes.add(key + " of SparkRDMA has no effect: " + replacement);
          } else {
            throw unknown(key, text, engines.names());
          }
        });
    var settings = new ShuffleSettings(values, engines.validated(ofEngines), notes);
    engines.requireEngine(settings.engine());
    settings.checkTogether();
    return settings;
  }

  private static IllegalArgumentException unknown(String key, String text, Set<String> ofEngines) {
    Set<String> known = new TreeSet<>();
    for (ShuffleSetting setting : ShuffleSetting.values()) {
      known.add(setting.key());
    }
    ofEngines.forEach(name -> known.add(ShuffleSetting.PREFIX + name));
    String nearest = EditDistance.nearest(key, known);
    return new IllegalArgumentException(
        "unknown setting: key="
            + key
            + " value="
            + text
            + " nearest="
            + nearest
            + " allowed="
            + allowed(nearest));
  }

  private static String allowed(String key) {
    for (ShuffleSetting setting : ShuffleSetting.values()) {
      if (setting.key().equals(key)) {
        return setting.allowed();
      }
    }
    return "values that the engine accepts";
  }

  private void checkTogether() {
    require(
        duration(ShuffleSetting.LEASE_TIMEOUT).compareTo(duration(ShuffleSetting.REQUEST_TIMEOUT))
            > 0,
        ShuffleSetting.LEASE_TIMEOUT,
        "more than",
        ShuffleSetting.REQUEST_TIMEOUT);
    require(
        duration(ShuffleSetting.QUARANTINE_MAX).compareTo(duration(ShuffleSetting.QUARANTINE_MIN))
            >= 0,
        ShuffleSetting.QUARANTINE_MAX,
        "at least",
        ShuffleSetting.QUARANTINE_MIN);
    Optional<Long> pinned = bytesOrDerived(ShuffleSetting.PINNED_MAX);
    Optional<Long> pool = bytesOrDerived(ShuffleSetting.POOL_MAX);
    require(
        pinned.isEmpty() || pool.isEmpty() || pool.get() <= pinned.get(),
        ShuffleSetting.POOL_MAX,
        "at most",
        ShuffleSetting.PINNED_MAX);
  }

  private void require(
      boolean right, ShuffleSetting setting, String relation, ShuffleSetting other) {
    if (!right) {
      throw new IllegalArgumentException(
          "bad setting: key="
              + setting.key()
              + " value="
              + inWords(setting)
              + " allowed="
              + relation
              + " "
              + other.key()
              + "="
              + inWords(other));
    }
  }

  private String inWords(ShuffleSetting setting) {
    Object value = values.get(setting);
    return value instanceof Duration time
        ? time.toMillis() + "ms"
        : bytesOrDerived(setting).map(ValueType::inBytes).orElse(ValueType.DERIVED);
  }

  /** Whether RDMA is used. */
  public Mode mode() {
    return Mode.valueOf(text(ShuffleSetting.MODE).toUpperCase(Locale.ROOT));
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
        numberOrDerived(ShuffleSetting.DEVICE_PORT),
        numberOrDerived(ShuffleSetting.GID_INDEX),
        textOrDerived(ShuffleSetting.GID_TYPE)
            .map(text -> GidType.valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'))),
        textOrDerived(ShuffleSetting.LISTEN_ADDRESS),
        sparkHost,
        flag(ShuffleSetting.RAILS_ROUTED),
        spread);
  }

  private static List<String> names(String text) {
    return Stream.of(text.split(",")).map(String::trim).filter(name -> !name.isEmpty()).toList();
  }

  /** Port to listen on; 0 for any. */
  public int listenPort() {
    return number(ShuffleSetting.LISTEN_PORT);
  }

  /** Most bytes pinned; empty to be derived from the machine. */
  public Optional<Long> pinnedMaxBytes() {
    return bytesOrDerived(ShuffleSetting.PINNED_MAX);
  }

  /** Whether blocks may be readable on the fabric although Spark's network is encrypted. */
  public boolean trustedFabric() {
    return flag(ShuffleSetting.FABRIC_TRUSTED);
  }

  /** How long a look-up of a peer may take. */
  public Duration lookupTimeout() {
    return duration(ShuffleSetting.CONNECT_TIMEOUT);
  }

  /** Messages to log once, about keys without effect. */
  public List<String> notes() {
    return notes;
  }

  /**
   * The transport's part.
   *
   * @param pinnedMaxBytes what may be pinned in all, set or derived
   */
  public TransportSettings transport(long pinnedMaxBytes) {
    PacketSettings packets =
        PacketSettings.of(
            numberOrDerived(ShuffleSetting.TOS),
            duration(ShuffleSetting.ACK_TIMEOUT),
            number(ShuffleSetting.ACK_RETRY_MAX));
    return new TransportSettings(
        (int) bytes(ShuffleSetting.MESSAGE_SIZE),
        number(ShuffleSetting.LOCATES_MAX),
        number(ShuffleSetting.READS_MAX),
        (int) bytes(ShuffleSetting.CHUNK_SIZE),
        bytesOrDerived(ShuffleSetting.POOL_MAX).orElse(pinnedMaxBytes / 2),
        duration(ShuffleSetting.CONNECT_TIMEOUT),
        duration(ShuffleSetting.REQUEST_TIMEOUT),
        durationOrDerived(ShuffleSetting.PEER_TIMEOUT).orElseGet(packets::peerTimeout),
        duration(ShuffleSetting.IDLE_TIMEOUT),
        duration(ShuffleSetting.QUARANTINE_MIN),
        duration(ShuffleSetting.QUARANTINE_MAX),
        number(ShuffleSetting.CONNECTIONS_MAX),
        number(ShuffleSetting.DELIVERY_THREADS),
        flag(ShuffleSetting.VERIFY),
        duration(ShuffleSetting.SPIN_TIMEOUT),
        packets);
  }

  /** The serving side's part. */
  public ServeSettings serve() {
    return new ServeSettings(
        ServeSettings.Mode.valueOf(text(ShuffleSetting.SERVE).toUpperCase(Locale.ROOT)),
        (int) bytes(ShuffleSetting.WINDOW_SIZE),
        (int) bytes(ShuffleSetting.COPY_SLOT_SIZE),
        number(ShuffleSetting.COPY_SLOTS_MAX),
        duration(ShuffleSetting.LEASE_TIMEOUT),
        number(ShuffleSetting.INDEX_CACHE_MAX),
        number(ShuffleSetting.PEER_LEASES_MAX),
        number(ShuffleSetting.PEER_SHARE_MAX),
        duration(ShuffleSetting.IDLE_TIMEOUT),
        flag(ShuffleSetting.COPY_FIRST),
        flag(ShuffleSetting.VERIFY));
  }

  private String text(ShuffleSetting setting) {
    return (String) values.get(setting);
  }

  private Optional<String> textOrDerived(ShuffleSetting setting) {
    return Optional.of(text(setting)).filter(text -> !text.equals(ValueType.DERIVED));
  }

  private int number(ShuffleSetting setting) {
    return (Integer) values.get(setting);
  }

  private long bytes(ShuffleSetting setting) {
    return (Long) values.get(setting);
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

  private Optional<Duration> durationOrDerived(ShuffleSetting setting) {
    return ((Optional<?>) values.get(setting)).map(Duration.class::cast);
  }

  private Optional<Long> bytesOrDerived(ShuffleSetting setting) {
    return ((Optional<?>) values.get(setting)).map(Long.class::cast);
  }
}
