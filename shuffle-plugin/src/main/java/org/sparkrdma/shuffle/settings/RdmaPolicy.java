// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.spark.SparkConf;

/**
 * Reasons against RDMA in Spark's own settings, and what mode {@code required} fails for them; what
 * it fails while RDMA is not up is in {@code SharedStatus}. Stateless.
 */
public final class RdmaPolicy {
  /**
   * Each key alone requests encryption. The last two are Spark's older encryption, by SASL. {@code
   * spark.ssl.enabled} is missing, because Spark's RPC does not inherit it. Most of them require
   * {@code spark.authenticate}, which is not checked here.
   */
  private static final List<String> NETWORK_ENCRYPTION =
      List.of(
          "spark.network.crypto.enabled",
          "spark.ssl.rpc.enabled",
          "spark.authenticate.enableSaslEncryption",
          "spark.network.sasl.serverAlwaysEncrypt");

  /** With it another attempt of a task writes files of the same map id, which servers keep open. */
  private static final String OLD_FETCH_PROTOCOL = "spark.shuffle.useOldFetchProtocol";

  /** Names of Spark's own shuffle manager, in lower case. */
  private static final Set<String> SORT_NAMES =
      Set.of("sort", "tungsten-sort", "org.apache.spark.shuffle.sort.sortshufflemanager");

  private RdmaPolicy() {}

  /** Whether this value of {@code spark.shuffle.manager} names Spark's own. */
  public static boolean isSort(String manager) {
    return SORT_NAMES.contains(manager.trim().toLowerCase(Locale.ROOT));
  }

  /** Whether this value of {@code spark.shuffle.manager} names the plug-in's own. */
  public static boolean isOurs(String manager) {
    return manager.trim().endsWith(".RdmaShuffleManager");
  }

  /** Whether a key of Spark, false by default, is true. */
  public static Predicate<String> isTrueIn(SparkConf conf) {
    return key -> ValueType.isTrue(conf.get(key, null));
  }

  /** The reason why the driver does not start beside another shuffle manager, if any. */
  public static Optional<String> requiredBesideAnother(ShuffleSettings settings) {
    return settings.mode() == ShuffleSettings.Mode.REQUIRED
        ? Optional.of(
            ShuffleSetting.MODE.key()
                + "=required is possible only with spark.shuffle.manager="
                + "org.sparkrdma.shuffle.RdmaShuffleManager"
                + ", because readers of another shuffle manager do not wait for RDMA: set it to"
                + " auto")
        : Optional.empty();
  }

  /**
   * Fails what needs RDMA where it has ended.
   *
   * @param reason why; empty when it has not
   * @throws IllegalStateException in mode required
   */
  public static void requireUp(ShuffleSettings settings, Optional<String> reason) {
    if (settings.mode() == ShuffleSettings.Mode.REQUIRED && reason.isPresent()) {
      throw new IllegalStateException(
          ShuffleSetting.MODE.key() + "=required and RDMA is not up: " + reason.get());
    }
  }

  /** The reason why an executor uses no RDMA beside another shuffle manager, if any. */
  public static Optional<String> plainBesideAnother(
      Predicate<String> isTrue, ShuffleSettings settings) {
    return mayReadPlain(isTrue, settings)
        ? Optional.empty()
        : Optional.of(
            "Spark encrypts its network, and files of this manager may be plain: set "
                + ShuffleSetting.FABRIC_TRUSTED.key()
                + "=true if the RDMA network is trusted");
  }

  /**
   * One sentence for each setting that forbids RDMA; empty when RDMA may be used.
   *
   * @param isTrue whether a key of Spark, false by default, is true
   */
  public static List<String> warnings(Predicate<String> isTrue, ShuffleSettings settings) {
    List<String> warnings = new ArrayList<>(oldFetchProtocol(isTrue).stream().toList());
    warnings.addAll(encryption(isTrue, settings));
    return warnings;
  }

  /** The part of {@link #warnings} about Spark's protocol before version 3. */
  public static Optional<String> oldFetchProtocol(Predicate<String> isTrue) {
    return isTrue.test(OLD_FETCH_PROTOCOL)
        ? Optional.of(OLD_FETCH_PROTOCOL + "=true is not supported; set it to false")
        : Optional.empty();
  }

  /**
   * Whether blocks in files of another shuffle manager may be read although {@code
   * spark.io.encryption.enabled} does not promise that they are encrypted: Comet's native writer
   * stores them plain.
   */
  public static boolean mayReadPlain(Predicate<String> isTrue, ShuffleSettings settings) {
    return settings.trustedFabric() || NETWORK_ENCRYPTION.stream().noneMatch(isTrue);
  }

  /** The part of {@link #warnings} about encryption of the network. */
  public static List<String> encryption(Predicate<String> isTrue, ShuffleSettings settings) {
    List<String> warnings = new ArrayList<>();
    boolean safe = settings.trustedFabric() || isTrue.test("spark.io.encryption.enabled");
    for (String key : NETWORK_ENCRYPTION) {
      if (!safe && isTrue.test(key)) {
        warnings.add(
            key
                + "=true asks for encryption and RDMA carries blocks as they are stored; set"
                + " spark.io.encryption.enabled=true, or spark.shuffle.rdma.fabric.trusted=true if"
                + " the fabric is trusted");
      }
    }
    return warnings;
  }
}
