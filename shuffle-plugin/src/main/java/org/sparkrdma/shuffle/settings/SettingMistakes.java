// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.spark.SparkConf;
import org.sparkrdma.verbs.Verbs;

/** All mistakes in settings at once. Stateless. */
public final class SettingMistakes {
  private SettingMistakes() {}

  /** Same as {@link #of(Map)}. */
  public static List<String> of(SparkConf conf) {
    return of(ShuffleSettings.texts(conf));
  }

  /**
   * One sentence for each wrong or unknown key of this plug-in, and one for each contradiction
   * between right keys.
   *
   * @param spark Spark's settings; those of others are ignored
   */
  public static List<String> of(Map<String, String> spark) {
    EngineKeys engines = new EngineKeys(Verbs.providers());
    List<String> mistakes = new ArrayList<>();
    Map<String, String> right = new TreeMap<>(spark);
    right
        .entrySet()
        .removeIf(
            setting ->
                setting.getKey().startsWith(ShuffleSetting.PREFIX)
                    && fails(mistakes, () -> check(setting, engines)));
    // With a wrong key a rule would compare its default.
    mistakes.addAll(
        SettingRules.contradictions(
            SettingValues.takeFrom(new TreeMap<>(right)),
            setting -> right.containsKey(setting.key()) || !spark.containsKey(setting.key())));
    fails(mistakes, () -> engines.validated(ofEngines(right, engines)));
    return List.copyOf(mistakes);
  }

  /**
   * One sentence for each key of SparkRDMA that has no effect.
   *
   * @param spark Spark's settings; those of others are ignored
   */
  public static List<String> formerKeys(Map<String, String> spark) {
    EngineKeys engines = new EngineKeys(Verbs.providers());
    return spark.keySet().stream()
        .filter(key -> key.startsWith(ShuffleSetting.PREFIX))
        .filter(key -> !engines.takes(key.substring(ShuffleSetting.PREFIX.length())))
        .map(FormerSettings::note)
        .filter(Objects::nonNull)
        .sorted()
        .toList();
  }

  private static Map<String, String> ofEngines(Map<String, String> right, EngineKeys engines) {
    Map<String, String> settings = new TreeMap<>();
    right.forEach(
        (key, text) -> {
          String name = key.substring(Math.min(key.length(), ShuffleSetting.PREFIX.length()));
          if (key.startsWith(ShuffleSetting.PREFIX) && engines.takes(name)) {
            settings.put(name, text);
          }
        });
    return settings;
  }

  private static boolean fails(List<String> mistakes, Runnable check) {
    try {
      check.run();
      return false;
    } catch (IllegalArgumentException e) {
      mistakes.add(e.getMessage());
      return true;
    }
  }

  /** Checks one key, without the rules between keys. */
  private static void check(Map.Entry<String, String> setting, EngineKeys engines) {
    String key = setting.getKey();
    String text = setting.getValue();
    Map<String, String> left = new TreeMap<>(Map.of(key, text));
    SettingValues values = SettingValues.takeFrom(left);
    engines.requireEngine(values.text(ShuffleSetting.ENGINE));
    String name = key.substring(ShuffleSetting.PREFIX.length());
    if (left.isEmpty() || FormerSettings.replacement(name) != null) {
      return;
    }
    if (!engines.takes(name)) {
      throw UnknownSetting.exception(key, text, engines.names());
    }
    engines.validated(Map.of(name, text));
  }
}
