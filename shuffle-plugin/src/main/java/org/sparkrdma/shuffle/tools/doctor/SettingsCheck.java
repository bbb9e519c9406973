// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

/** Spark's settings: wrong, unknown and former keys, contradictions, and a missing manager. */
final class SettingsCheck {
  static List<Finding> run(Facts facts) {
    SparkSettings spark = facts.spark();
    if (spark.isUnknown()) {
      return List.of(
          Finding.note(
              "No settings of Spark were given; defaults are assumed.",
              "give them with --conf FILE, or run this command by spark-submit"));
    }
    List<Finding> findings = new ArrayList<>();
    ShuffleSettings settings = ShuffleSettings.read(spark.values());
    for (String mistake : settings.mistakes()) {
      findings.add(
          Finding.problem(
              mistake + ". The driver refuses to start with it.",
              "correct it; docs/configuration.md has every key"));
    }
    if (spark.isManagerMissing()) {
      findings.add(
          Finding.problem(
              SparkSettings.MANAGER + " is not " + SparkSettings.PLUG_IN + ".",
              "set " + SparkSettings.MANAGER + "=" + SparkSettings.PLUG_IN));
    }
    if (settings.mode() == ShuffleSettings.Mode.OFF) {
      findings.add(
          Finding.problem(
              ShuffleSetting.MODE.key() + "=off switches RDMA off.",
              "set it to auto, or remove it"));
    }
    addBesideAnother(findings, spark, settings);
    RdmaPolicy.oldFetchProtocol(spark::isTrue)
        .ifPresent(reason -> findings.add(Finding.problem(reason + ".", "set it to false")));
    for (String reason : RdmaPolicy.encryption(spark::isTrue, settings)) {
      findings.add(Finding.problem(reason + ".", "choose one of the two; see docs/security.md"));
    }
    for (String note : settings.notes()) {
      findings.add(Finding.note(note + ".", "remove the key, or use what replaced it"));
    }
    if (findings.isEmpty()) {
      findings.add(Finding.ok("No mistake in " + spark.values().size() + " settings."));
    }
    return findings;
  }

  /** Another shuffle manager keeps its place with spark.plugins. */
  private static void addBesideAnother(
      List<Finding> findings, SparkSettings spark, ShuffleSettings settings) {
    String manager = spark.value(SparkSettings.MANAGER, "");
    if (spark.isManagerMissing() || RdmaPolicy.isOurs(manager)) {
      return;
    }
    Optional<String> required = RdmaPolicy.requiredBesideAnother(settings);
    if (manager.isEmpty()) {
      // Spark 4 lets the plug-in set its own.
      required.ifPresent(
          reason ->
              findings.add(
                  Finding.note(
                      "The driver of Spark 3.5 refuses to start: " + reason + ".",
                      "nothing with Spark 4")));
      return;
    }
    required.ifPresent(
        reason ->
            findings.add(
                Finding.problem(
                    reason + ". The driver refuses to start with it.", "set it to auto")));
    if (!RdmaPolicy.isSort(manager)) {
      RdmaPolicy.plainBesideAnother(spark::isTrue, settings)
          .ifPresent(reason -> findings.add(Finding.problem(reason + ".", "see docs/engines.md")));
    }
  }

  private SettingsCheck() {}
}
