// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.shuffle.settings.MistypedKeys;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.SettingMistakes;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

/**
 * Spark's settings: wrong, unknown, mistyped and former keys, contradictions, and a missing
 * manager.
 */
final class SettingsCheck {
  /** Number of keys that a finding names. */
  private static final int MAX_NAMED = 5;

  /** Reasons in the settings why RDMA is not used. */
  static List<String> reasons(SparkSettings spark) {
    List<String> reasons = new ArrayList<>(SettingMistakes.of(spark.values()));
    if (spark.isManagerMissing()) {
      reasons.add(SparkSettings.MANAGER + " is not " + SparkSettings.PLUG_IN);
    }
    if (isOff(spark)) {
      reasons.add(ShuffleSetting.MODE.key() + "=off");
    }
    RdmaPolicy.oldFetchProtocol(spark::isTrue).ifPresent(reasons::add);
    reasons.addAll(encryptionWarnings(spark));
    return reasons;
  }

  static List<Finding> run(Facts facts) {
    SparkSettings spark = facts.spark();
    if (spark.isUnknown()) {
      return List.of(
          Finding.note(
              "No settings of Spark were given; defaults are assumed.",
              "give them with --conf FILE, or run this command by spark-submit"));
    }
    List<Finding> findings = new ArrayList<>();
    List<String> mistakes = SettingMistakes.of(spark.values());
    for (String mistake : mistakes) {
      findings.add(
          Finding.problem(
              mistake + ". The driver refuses to start with it.",
              "correct it; docs/configuration.md has every key"));
    }
    if (spark.isManagerMissing()) {
      String set = spark.value(SparkSettings.MANAGER, "not set");
      findings.add(
          Finding.problem(
              SparkSettings.MANAGER + " is " + set + ", so Spark does not load this plug-in.",
              "set " + SparkSettings.MANAGER + "=" + SparkSettings.PLUG_IN));
    }
    if (isOff(spark)) {
      findings.add(
          Finding.problem(
              ShuffleSetting.MODE.key() + "=off switches RDMA off.",
              "set it to auto, or remove it"));
    }
    RdmaPolicy.oldFetchProtocol(spark::isTrue)
        .ifPresent(reason -> findings.add(Finding.problem(reason + ".", "set it to false")));
    for (String note : SettingMistakes.formerKeys(spark.values())) {
      findings.add(Finding.note(note + ".", "remove the key, or use what replaced it"));
    }
    findings.addAll(mistyped(spark));
    findings.addAll(foreign(spark));
    if (spark.value("spark.master", "").toLowerCase(Locale.ROOT).matches("local(\\[.*)?")) {
      findings.add(
          Finding.note(
              "spark.master="
                  + spark.value("spark.master", "")
                  + " runs everything in one process:"
                  + " no block is remote, so no device is opened.",
              "set spark.master to that of a cluster"));
    }
    if (facts.loopback()
        && !spark.value("spark.shuffle.readHostLocalDisk", "true").equals("false")) {
      findings.add(
          Finding.note(
              "Spark reads blocks of the same host from disk, and the loopback engine serves one"
                  + " host only, so no block goes through it.",
              "set spark.shuffle.readHostLocalDisk=false"));
    }
    if (findings.isEmpty()) {
      findings.add(Finding.ok("No mistake in " + spark.values().size() + " settings."));
    }
    return findings;
  }

  private static boolean isOff(SparkSettings spark) {
    return spark.value(ShuffleSetting.MODE.key(), "auto").equals("off");
  }

  /** Keys that Spark drops, in one finding; without those that another finding names. */
  private static List<Finding> foreign(SparkSettings spark) {
    List<String> keys = new ArrayList<>(spark.foreignKeys());
    keys.removeAll(MistypedKeys.of(keys).keySet());
    keys.sort(null);
    int number = keys.size();
    if (number == 0) {
      return List.of();
    }
    String named = String.join(", ", keys.subList(0, Math.min(MAX_NAMED, number)));
    return List.of(
        Finding.note(
            "Spark ignores "
                + named
                + (number > MAX_NAMED ? ", ... (" + number + " keys)" : "")
                + ": its keys begin with spark.",
            "write spark. before a key that is meant for Spark, or remove it"));
  }

  /** Keys that do not reach this plug-in, which Spark ignores without an error. */
  private static List<Finding> mistyped(SparkSettings spark) {
    List<Finding> findings = new ArrayList<>();
    MistypedKeys.of(spark.allKeys())
        .forEach(
            (key, meant) ->
                findings.add(
                    Finding.warning(
                        key + " has no effect: Spark and this plug-in do not know it.",
                        meant
                            .map(right -> "write " + right + ", if that is meant")
                            .orElse("keys of this plug-in begin with " + ShuffleSetting.PREFIX))));
    return findings;
  }

  /** Settings of encryption that forbid RDMA; none while other settings are wrong. */
  private static List<String> encryptionWarnings(SparkSettings spark) {
    return SettingMistakes.of(spark.values()).isEmpty()
        ? RdmaPolicy.encryption(spark::isTrue, ShuffleSettings.of(spark.values()))
        : List.of();
  }

  /** Effect of authentication and encryption on RDMA. */
  static List<Finding> encryption(Facts facts) {
    SparkSettings spark = facts.spark();
    List<Finding> findings = new ArrayList<>();
    for (String warning : encryptionWarnings(spark)) {
      findings.add(Finding.problem(warning + ".", "choose one of the two; see docs/security.md"));
    }
    if (facts.loopback()) {
      return findings;
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

  private SettingsCheck() {}
}
