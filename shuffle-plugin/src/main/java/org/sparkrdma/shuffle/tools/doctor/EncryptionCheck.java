// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.SettingMistakes;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

/** Effect of Spark's settings for authentication and encryption on RDMA. */
final class EncryptionCheck implements Check {
  @Override
  public String name() {
    return "encryption";
  }

  /** Settings of encryption that forbid RDMA; none while other settings are wrong. */
  static List<String> warnings(SparkSettings spark) {
    return SettingMistakes.of(spark.values()).isEmpty()
        ? RdmaPolicy.encryption(spark::isTrue, ShuffleSettings.of(spark.values()))
        : List.of();
  }

  @Override
  public List<Finding> run(Facts facts) {
    SparkSettings spark = facts.spark();
    List<Finding> findings = new ArrayList<>();
    for (String warning : warnings(spark)) {
      findings.add(Finding.problem(warning + ".", "choose one of the two; see docs/security.md"));
    }
    findings.add(
        spark.isTrue("spark.io.encryption.enabled")
            ? Finding.ok("Map outputs are encrypted in their files, and RDMA carries them so.")
            : Finding.note(
                "RDMA carries map outputs as they are in their files: not encrypted.",
                "set spark.io.encryption.enabled=true where others can read the fabric, with"
                    + " spark.authenticate and spark.network.crypto.enabled, without which Spark"
                    + " sends the key in clear text"));
    findings.add(
        spark.isTrue("spark.authenticate")
            ? Finding.ok("Peers prove that they know the application's secret.")
            : Finding.note(
                "Peers prove that they know a token of the driver, which every client of the"
                    + " driver's RPC can learn.",
                "set spark.authenticate=true where others can reach the driver"));
    return findings;
  }
}
