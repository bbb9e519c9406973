// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/** Reasons against RDMA in Spark's own settings. Stateless. */
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

  private RdmaPolicy() {}

  /** One sentence for each setting that forbids RDMA; empty when RDMA may be used. */
  public static List<String> warnings(SparkConf conf, ShuffleSettings settings) {
    List<String> warnings = new ArrayList<>();
    if (conf.getBoolean("spark.shuffle.useOldFetchProtocol", false)) {
      warnings.add("spark.shuffle.useOldFetchProtocol=true is not supported; set it to false");
    }
    boolean safe =
        settings.trustedFabric() || conf.getBoolean("spark.io.encryption.enabled", false);
    for (String key : NETWORK_ENCRYPTION) {
      if (!safe && conf.getBoolean(key, false)) {
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
